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
  /** What goes on by itself meanwhile; the end waits for it. */
  later(work: Promise<void>): void;
  readonly isOver: boolean;
}

export interface Action {
  readonly weight: number;
  /** Does something to the slot, where it can. */
  act(field: Field, slot: Slot): void;
}

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

function someRuns(field: Field, slot: Slot): void {
  for (let left = field.random.between(1, 4); left > 0; left -= 1) run(field, slot);
}

function run(field: Field, slot: Slot): void {
  if (!slot.attached) return;
  const id = field.nextRun();
  const code = field.random.choose(codesFor(id, field.random));
  const session = field.random.pick(SESSIONS);
  if (!code || session === undefined) return;
  field.note(`${slot.name}: run ${id} (${code.name}) in ${session}`);
  slot.run(id, session, code);
}

function interrupt(field: Field, slot: Slot): void {
  const session = aSession(field, slot, ['busy']);
  if (!session) return;
  // Its window may see another run there when the command comes.
  for (const each of slot.runs.values()) {
    if (each.session === session.sessionId.slice('python:'.length)) each.wasInterrupted = true;
  }
  field.note(`${slot.name}: interrupt ${session.id}`);
  slot.attached?.tell({ do: 'interrupt', id: session.id, pid: session.pid ?? 0 });
}

const endSession =
  (how: 'restart' | 'stop' | 'kill' | 'release') =>
  (field: Field, slot: Slot): void => {
    const session = aSession(field, slot, ['idle', 'busy']);
    const kernel = session && slot.kernelOf(session);
    if (!session || !kernel) return;
    kernel.fate = 'ends';
    field.note(`${slot.name}: ${how} ${session.id}, kernel ${kernel.pid}`);
    slot.attached?.tell({ do: how, id: session.id, pid: kernel.pid });
  };

const signalKernel =
  (name: 'SIGKILL' | 'SIGTERM') =>
  (field: Field, slot: Slot): void => {
    const kernel = aKernel(field, slot);
    if (!kernel) return;
    kernel.fate = name === 'SIGKILL' ? 'ends' : 'may';
    field.note(`${slot.name}: ${name} to kernel ${kernel.pid}`);
    signal(kernel, name);
  };

/** Longer than any beat, shorter than what is held against anybody. */
const aPause = ({ random }: Field): number => random.between(100, 3_000);

function stopKernel(field: Field, slot: Slot): void {
  const kernel = aKernel(field, slot);
  if (!kernel || statusOf(kernel.pid)?.isStopped === true) return;
  const pauseMs = aPause(field);
  field.note(`${slot.name}: SIGSTOP to kernel ${kernel.pid} for ${pauseMs} ms`);
  if (signal(kernel, 'SIGSTOP')) {
    field.later(delay(pauseMs).then(() => void signal(kernel, 'SIGCONT')));
  }
}

function killChild(field: Field, slot: Slot): void {
  const leaders = new Set([...slot.kernels.values()].map(({ pid }) => pid));
  const children = field
    .living()
    .filter(({ slot: of, nonce, pid }) => of === slot.name && nonce && !leaders.has(pid));
  // An interpreter that is about to be a kernel is none, and there is no telling.
  const child = field.random.pick(children.filter(({ command }) => /^(sleep|sh) /.test(command)));
  if (!child) return;
  field.note(`${slot.name}: SIGKILL to child ${child.pid}`);
  signal(child, 'SIGKILL');
}

function hostOf(slot: Slot, field: Field): Living | undefined {
  const pid = (slot.window ?? [...slot.leaving].at(-1))?.hostPid;
  return field.living().find((each) => each.pid === pid);
}

const endHost =
  (name: 'SIGKILL' | 'SIGTERM') =>
  (field: Field, slot: Slot): void => {
    const host = hostOf(slot, field);
    if (!host || slot.stoppedHost !== undefined) return;
    slot.doubt('ends');
    slot.doomedHosts.add(host.pid);
    field.note(`${slot.name}: ${name} to kernel host ${host.pid}`);
    signal(host, name);
  };

function stopHost(field: Field, slot: Slot): void {
  const host = hostOf(slot, field);
  if (!host || slot.stoppedHost !== undefined || slot.doomedHosts.has(host.pid)) return;
  const pauseMs = aPause(field);
  const isKilled = field.random.chance(0.3);
  if (!slot.attached || isKilled) slot.doubt(isKilled ? 'ends' : 'may');
  if (isKilled) slot.doomedHosts.add(host.pid);
  field.note(
    `${slot.name}: SIGSTOP to kernel host ${host.pid}, ${isKilled ? 'SIGKILL' : 'SIGCONT'} after ${pauseMs} ms`,
  );
  if (!signal(host, 'SIGSTOP')) return;
  slot.stoppedHost = host.pid;
  const goOn = (): void => {
    slot.stoppedHost = undefined;
    signal(host, isKilled ? 'SIGKILL' : 'SIGCONT');
  };
  field.later(delay(pauseMs).then(goOn));
}

function stopWindow(field: Field, slot: Slot): void {
  const window = slot.attached;
  if (!window || window.isStopped) return;
  const pauseMs = aPause(field);
  field.note(`${slot.name}: SIGSTOP to window ${window.pid} for ${pauseMs} ms`);
  window.isStopped = true;
  process.kill(window.pid, 'SIGSTOP');
  const goOn = (): void => {
    window.isStopped = false;
    if (!window.isGone) process.kill(window.pid, 'SIGCONT');
  };
  field.later(delay(pauseMs).then(goOn));
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

function reload(field: Field, slot: Slot): void {
  if (!slot.attached) return;
  const { pid } = slot.attached;
  const hosts = field.living().filter((each) => each.slot === slot.name && isHost(each, slot));
  // Which of two is meant nobody knows.
  if (hosts.length > 1) slot.doubt('may');
  const pauseMs = field.random.pick([0, 0, 200, 1_500]) ?? 0;
  const how = endWindow(field, slot);
  field.note(`${slot.name}: window ${pid} reloads (${how}), its successor after ${pauseMs} ms`);
  field.later(delay(pauseMs).then(() => slot.open()));
}

export function isHost({ pid, nonce }: Living, slot: Slot): boolean {
  return (
    nonce === undefined &&
    pid !== slot.window?.pid &&
    ![...slot.leaving].some((each) => each.pid === pid)
  );
}

/** It stays away for longer than its sessions are kept, and is opened again. */
function close(field: Field, slot: Slot): void {
  if (!slot.attached) return;
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
}

export const actions: readonly Action[] = [
  { weight: 40, act: someRuns },
  { weight: 8, act: interrupt },
  { weight: 2, act: endSession('restart') },
  { weight: 2, act: endSession('stop') },
  { weight: 1, act: endSession('kill') },
  { weight: 1, act: endSession('release') },
  { weight: 3, act: signalKernel('SIGKILL') },
  { weight: 1, act: signalKernel('SIGTERM') },
  { weight: 4, act: stopKernel },
  { weight: 3, act: killChild },
  { weight: 1.5, act: endHost('SIGKILL') },
  { weight: 1, act: endHost('SIGTERM') },
  { weight: 2, act: stopHost },
  { weight: 3, act: stopWindow },
  { weight: 6, act: reload },
  { weight: 1.5, act: close },
];
