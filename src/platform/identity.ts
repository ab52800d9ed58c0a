/** A process for good: a pid alone is given again to others. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Opaque; together with the pid equal only for the same process. */
  readonly startTime: string;
}

/** Where process ids mean what they say: elsewhere, or after another boot, the same pid is another process. */
export interface ProcessScope {
  /** Opaque; another one after each boot. */
  readonly boot: string;
  /** Opaque; the same where processes see each other. Empty where the system knows no such spaces. */
  readonly namespace: string;
}

/** Where a family of processes begins. */
export interface FamilyRoot {
  /** The leader: of the process group too, on POSIX. Absent: it is gone or was never known, and only marks count. */
  readonly pid?: number;
  /** The leader's, where it is known: on Windows, which shows neither groups nor marks, whoever else has its pid is a stranger. */
  readonly startTime?: string;
  /** Value of HOLDFAST_KERNEL_NONCE in the leader's environment, which children inherit. */
  readonly nonce: string;
}

export interface FamilyMember extends ProcessIdentity {
  /** For people: its program's name. */
  readonly name: string;
  /** Resident memory in bytes. */
  readonly residentBytes: number;
}

/**
 * What a look for a process can say. Unknown (a tool failed or hung, there was no descriptor left to read with) is
 * evidence of nothing, neither of life nor of death.
 */
export type Sighting =
  | { readonly is: 'alive'; readonly startTime: string }
  | { readonly is: 'gone' }
  | { readonly is: 'unknown'; readonly why: string };

/** What each system tells of processes in its own way. Zombies count as gone everywhere. Nothing here rejects. */
export interface Processes {
  /** `boot` is empty where it cannot be told now. */
  scope(): Promise<ProcessScope>;
  /** Whether anything lives under this pid, and since when. */
  sight(pid: number): Promise<Sighting>;
  /**
   * The living of a family: the leader, its group, its descendants, and, where environments can be read, those that
   * left both but carry the nonce. undefined: it cannot be told who there is.
   */
  family(root: FamilyRoot): Promise<readonly FamilyMember[] | undefined>;
  /** Sends the leader's group (Windows: its tree) a signal. */
  signalGroup(pid: number, signal: GroupSignal): Promise<Delivery>;
}

export type GroupSignal = 'SIGINT' | 'SIGTERM' | 'SIGKILL';

export type Delivery =
  | 'sent'
  /** No process is left to take it. */
  | 'nobody'
  /** There are processes, and this user may not signal them. */
  | 'forbidden'
  /** The system has no such signal, or its tool failed. */
  | 'unable';

/** What is known of one certain process: another one under its pid means that it is gone. */
export async function stateOf(
  processes: Processes,
  { pid, startTime }: ProcessIdentity,
): Promise<Sighting['is']> {
  const sighting = await processes.sight(pid);
  if (sighting.is !== 'alive') return sighting.is;
  return sighting.startTime === startTime ? 'alive' : 'gone';
}

/** The start time of a process that was just started; undefined where the system does not tell it. */
export async function startTimeOf(processes: Processes, pid: number): Promise<string | undefined> {
  const sighting = await processes.sight(pid);
  return sighting.is === 'alive' ? sighting.startTime : undefined;
}

/** Name of the variable that marks a kernel and all that come of it. */
export const NONCE_VARIABLE = 'HOLDFAST_KERNEL_NONCE';
