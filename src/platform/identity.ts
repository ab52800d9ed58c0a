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
  /** Value of HOLDFAST_KERNEL_NONCE in the leader's environment, which children inherit. */
  readonly nonce: string;
}

export interface FamilyMember extends ProcessIdentity {
  /** For people: its program's name. */
  readonly name: string;
  /** Resident memory in bytes. */
  readonly residentBytes: number;
}

/** What each system tells of processes in its own way. Zombies count as gone everywhere. */
export interface Processes {
  scope(): Promise<ProcessScope>;
  /** undefined: no such process is alive. */
  startTime(pid: number): Promise<string | undefined>;
  /**
   * The living of a family: the leader, its group, its descendants, and, where environments can be read, those that
   * left both but carry the nonce.
   */
  family(root: FamilyRoot): Promise<readonly FamilyMember[]>;
  /** Sends the leader's group (Windows: its tree) a signal. False when nobody is left to take it. */
  signalGroup(pid: number, signal: GroupSignal): Promise<boolean>;
}

export type GroupSignal = 'SIGINT' | 'SIGTERM' | 'SIGKILL';

/** Name of the variable that marks a kernel and all that come of it. */
export const NONCE_VARIABLE = 'HOLDFAST_KERNEL_NONCE';
