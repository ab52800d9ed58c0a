import { setTimeout as delay } from 'node:timers/promises';
import { statusOf, type Living } from './census';
import { codesFor } from './codes';
import type { SeenSession } from './messages';
import type { Random } from './random';
import type { Slot } from './slot';

export interface Field {
  readonly random: Random;
  readonly slots: readonly Slot[];
  /** Of the last census. */
  living(): readonly Living[];
  nextRun(): string;
  note(what: string): void;
  /** What was done, for what is to have been done at least. */
  count(what: string): void;
  /** What goes on by itself meanwhile; the end waits for it. */
  later(work: Promise<void>): void;
  readonly isOver: boolean;
}

export interface Action {
  readonly name: string;
  readonly weight: number;
  /** So often at least in four minutes, or the chaos has shown nothing. */
  readonly atLeast: number;
  /** Does something to the slot, where it can: answers whether it did. */
  act(field: Field, slot: Slot): boolean;
}

/** Counted beside the actions. */
export const ENDED_EARLY = 'windows that ended as they took up';

const SESSIONS = ['a', 'b', 'c'];

/** A signal to a process that still is the one meant. */
function signal({ pid, start }: { pid: number; start: string }, name: NodeJS.Signals): boolean {
  if (statusOf(pid)?.start !== start) return false;
  process.kill(pid, name);
  return true;
}

function aKernel({ random }: Field, slot: Slot): ReturnType<Slot['kernelOf']> {
  const alive = [...slot.kernels.values()].filter(
    ({ pid, start }) => statusOf(pid)?.start === start,
  );
  return random.pick(alive);
}

function aSession(
  { random }: Field,
  slot: Slot,
  states: readonly string[],
): SeenSession | undefined {
  const { attached } = slot;
  if (!attached || attached.isStopped || slot.stoppedHost !== undefined) return undefined;
  return random.pick(attached.sessions.filter(({ state, pid }) => pid && states.includes(state)));
}

function someRuns(field: Field, slot: Slot): boolean {
  if (!slot.attached) return false;
  for (let left = field.random.between(1, 4); left > 0; left -= 1) run(field, slot);
  return true;
}

function run(field: Field, slot: Slot): void {
  const id = field.nextRun();
  const code = field.random.choose(codesFor(id, field.random));
  const session = field.random.pick(SESSIONS);
  if (!code || session === undefined) return;
  field.note(`${slot.name}: run ${id} (${code.name}) in ${session}`);
  slot.run(id, session, code);
}

function interrupt(field: Field, slot: Slot): boolean {
  const session = aSession(field, slot, ['busy']);
  if (!session) return false;
  // Its window may see another run there when the command comes.
  for (const each of slot.runs.values()) {
    if (each.session === session.sessionId.slice('python:'.length)) each.wasInterrupted = true;
  }
  field.note(`${slot.name}: interrupt ${session.id}`);
  slot.attached?.tell({ do: 'interrupt', id: session.id, pid: session.pid ?? 0 });
  return true;
}

const endSession =
  (how: 'restart' | 'stop' | 'kill' | 'release') =>
  (field: Field, slot: Slot): boolean => {
    const session = aSession(field, slot, ['idle', 'busy']);
    const kernel = session && slot.kernelOf(session);
    if (!session || !kernel) return false;
    slot.touch(kernel, 'ends');
    field.note(`${slot.name}: ${how} ${session.id}, kernel ${kernel.pid}`);
    slot.attached?.tell({ do: how, id: session.id, pid: kernel.pid });
    return true;
  };

const signalKernel =
  (name: 'SIGKILL' | 'SIGTERM') =>
  (field: Field, slot: Slot): boolean => {
    const kernel = aKernel(field, slot);
    if (!kernel) return false;
    slot.touch(kernel, name === 'SIGKILL' ? 'ends' : 'may');
    field.note(`${slot.name}: ${name} to kernel ${kernel.pid}`);
    return signal(kernel, name);
  };

/** Longer than any beat, shorter than what is held against anybody. */
const aPause = ({ random }: Field): number => random.between(100, 3_000);

function stopKernel(field: Field, slot: Slot): boolean {
  const kernel = aKernel(field, slot);
  if (!kernel || kernel.stoppedAt !== undefined) return false;
  const pauseMs = aPause(field);
  field.note(`${slot.name}: SIGSTOP to kernel ${kernel.pid} for ${pauseMs} ms`);
  kernel.stoppedAt = Date.now();
  if (!signal(kernel, 'SIGSTOP')) return false;
  const goOn = (): void => {
    kernel.stoppedAt = undefined;
    signal(kernel, 'SIGCONT');
  };
  field.later(delay(pauseMs).then(goOn));
  return true;
}

function killChild(field: Field, slot: Slot): boolean {
  const leaders = new Set([...slot.kernels.values()].map(({ pid }) => pid));
  const children = field
    .living()
    .filter(({ slot: of, nonce, pid }) => of === slot.name && nonce && !leaders.has(pid));
  // An interpreter that is about to be a kernel is none, and there is no telling.
  const child = field.random.pick(children.filter(({ command }) => /^(sleep|sh) /.test(command)));
  if (!child) return false;
  field.note(`${slot.name}: SIGKILL to child ${child.pid}`);
  return signal(child, 'SIGKILL');
}

function hostOf(slot: Slot, field: Field): Living | undefined {
  const pid = (slot.window ?? [...slot.leaving].at(-1))?.hostPid;
  return field.living().find((each) => each.pid === pid);
}

const endHost =
  (name: 'SIGKILL' | 'SIGTERM') =>
  (field: Field, slot: Slot): boolean => {
    const host = hostOf(slot, field);
    if (!host || slot.stoppedHost !== undefined) return false;
    slot.doubt('ends');
    slot.doomedHosts.add(host.pid);
    field.note(`${slot.name}: ${name} to kernel host ${host.pid}`);
    return signal(host, name);
  };

function stopHost(field: Field, slot: Slot): boolean {
  const host = hostOf(slot, field);
  if (!host || slot.stoppedHost !== undefined || slot.doomedHosts.has(host.pid)) return false;
  const pauseMs = aPause(field);
  const isKilled = field.random.chance(0.3);
  if (!slot.attached || isKilled) slot.doubt(isKilled ? 'ends' : 'may');
  if (isKilled) slot.doomedHosts.add(host.pid);
  field.note(
    `${slot.name}: SIGSTOP to kernel host ${host.pid}, ${isKilled ? 'SIGKILL' : 'SIGCONT'} after ${pauseMs} ms`,
  );
  if (!signal(host, 'SIGSTOP')) return false;
  slot.stoppedHost = host.pid;
  const goOn = (): void => {
    slot.stoppedHost = undefined;
    signal(host, isKilled ? 'SIGKILL' : 'SIGCONT');
  };
  field.later(delay(pauseMs).then(goOn));
  return true;
}

function stopWindow(field: Field, slot: Slot): boolean {
  const window = slot.attached;
  if (!window || window.isStopped) return false;
  const pauseMs = aPause(field);
  field.note(`${slot.name}: SIGSTOP to window ${window.pid} for ${pauseMs} ms`);
  window.stoppedAt = Date.now();
  process.kill(window.pid, 'SIGSTOP');
  const goOn = (): void => {
    window.stoppedAt = undefined;
    if (!window.isGone) process.kill(window.pid, 'SIGCONT');
  };
  field.later(delay(pauseMs).then(goOn));
  return true;
}

/** How a window ends. A stopped one heeds no more than SIGKILL. */
function endWindow(field: Field, slot: Slot): string {
  const how = slot.window?.isStopped
    ? 'SIGKILL'
    : (field.random.pick(['SIGKILL', 'SIGTERM', 'leave'] as const) ?? 'SIGKILL');
  // A host that does not answer a newcomer within its time is not taken up.
  if (slot.stoppedHost !== undefined) slot.doubt('may');
  slot.end(how);
  return how;
}

function reload(field: Field, slot: Slot): boolean {
  if (!slot.attached) return false;
  const { pid } = slot.attached;
  const hosts = field.living().filter((each) => each.slot === slot.name && isHost(each, slot));
  // Which of two is meant nobody knows.
  if (hosts.length > 1) slot.doubt('may');
  const pauseMs = field.random.pick([0, 0, 200, 1_500]) ?? 0;
  const how = endWindow(field, slot);
  field.note(`${slot.name}: window ${pid} reloads (${how}), its successor after ${pauseMs} ms`);
  const early = field.random.pick([[], [], [0], [20, 0], [5, 50]]) ?? [];
  const opens = async (): Promise<void> => {
    await delay(pauseMs);
    slot.open();
    for (const afterMs of early) await endEarly(field, slot, afterMs);
  };
  field.later(opens());
  return true;
}

/** The window ends while it takes up what the one before it had, and another comes. */
async function endEarly(field: Field, slot: Slot, afterMs: number): Promise<void> {
  const { window } = slot;
  await window?.hasBegun;
  await delay(afterMs);
  if (!window || slot.window !== window || window.isStopped || field.isOver) return;
  if (slot.stoppedHost !== undefined) slot.doubt('may');
  field.note(`${slot.name}: window ${window.pid} is killed as it takes up, and opens again`);
  field.count(ENDED_EARLY);
  slot.end('SIGKILL');
  slot.open();
}

export function isHost({ pid, nonce }: Living, slot: Slot): boolean {
  return (
    nonce === undefined &&
    pid !== slot.window?.pid &&
    ![...slot.leaving].some((each) => each.pid === pid)
  );
}

/** It stays away for longer than its sessions are kept, and is opened again. */
function close(field: Field, slot: Slot): boolean {
  if (!slot.attached) return false;
  const { pid } = slot.attached;
  const how = endWindow(field, slot);
  slot.doubt('may');
  field.note(`${slot.name}: window ${pid} closes (${how})`);
  const away = async (): Promise<void> => {
    await delay(slot.graceMs + 6_000);
    if (field.isOver) return;
    field.note(`${slot.name}: opens again`);
    slot.open();
  };
  field.later(away());
  return true;
}

export const actions: readonly Action[] = [
  { name: 'runs', weight: 40, atLeast: 60, act: someRuns },
  { name: 'interrupts', weight: 8, atLeast: 10, act: interrupt },
  { name: 'restarts', weight: 2, atLeast: 3, act: endSession('restart') },
  { name: 'stops', weight: 2, atLeast: 3, act: endSession('stop') },
  { name: 'kills', weight: 1, atLeast: 1, act: endSession('kill') },
  { name: 'releases', weight: 1, atLeast: 1, act: endSession('release') },
  { name: 'kernels killed', weight: 3, atLeast: 8, act: signalKernel('SIGKILL') },
  { name: 'kernels ended', weight: 1, atLeast: 1, act: signalKernel('SIGTERM') },
  { name: 'kernels stopped', weight: 4, atLeast: 8, act: stopKernel },
  { name: 'children killed', weight: 3, atLeast: 3, act: killChild },
  { name: 'hosts killed', weight: 1.5, atLeast: 3, act: endHost('SIGKILL') },
  { name: 'hosts ended', weight: 1, atLeast: 1, act: endHost('SIGTERM') },
  { name: 'hosts stopped', weight: 2, atLeast: 4, act: stopHost },
  { name: 'windows stopped', weight: 3, atLeast: 5, act: stopWindow },
  { name: 'reloads', weight: 6, atLeast: 12, act: reload },
  { name: 'closes', weight: 1.5, atLeast: 2, act: close },
];
