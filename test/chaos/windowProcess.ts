/**
 * A window without an editor, in a process of its own: what extension.ts composes, but for views and for the search for
 * an interpreter. Takes commands from stdin, tells on stdout what a person would see.
 */
import { randomUUID } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { systemClock } from '../../src/base/clock';
import { deferred } from '../../src/base/deferred';
import { messageOf } from '../../src/base/errors';
import type { Log } from '../../src/base/log';
import { Door } from '../../src/editor/door';
import { isOverIn } from '../../src/editor/panel/outline';
import { createTranscript, type Transcript } from '../../src/editor/panel/transcript';
import { Hosts } from '../../src/editor/reload/hosts';
import { keepForNextWindow, keptKeys } from '../../src/editor/reload/keep';
import { takeUp, type TakenUp } from '../../src/editor/reload/takeUp';
import { Runs } from '../../src/editor/runs';
import { mayEvict, ownerKind } from '../../src/editor/sessions/owners';
import { SessionBook } from '../../src/editor/sessions/sessionBook';
import { sessionKeyOf, type SessionTarget } from '../../src/editor/sessions/target';
import { createKernelHosting, type KernelHosting } from '../../src/hosting';
import { createKernelPool } from '../../src/pool/pool';
import type { KernelPool, SessionSnapshot } from '../../src/pool/types';
import type { Assignment, Command, Report, SeenSession, ShownEnd } from './messages';

const assignment = JSON.parse(process.argv[2] ?? '') as Assignment;
const { folder, workspace, interpreter } = assignment;
const clock = systemClock;
const ownerId = `window:${randomUUID()}`;
const book = new SessionBook();

const tell = (report: Report): boolean => process.stdout.write(`${JSON.stringify(report)}\n`);

function fileLog(): Log {
  const write =
    (level: string) =>
    (message: string, error?: unknown): void => {
      const rest = error === undefined ? '' : ` ${messageOf(error)}`;
      const line = `${Date.now()} ${process.pid} ${level} ${message}${rest}\n`;
      appendFileSync(path.join(folder, 'windows.log'), line);
    };
  return {
    trace: () => undefined,
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
  };
}
const log = fileLog();

/** What the window before had is here, or there was nothing. */
let isTakenUp = false;

/** A transcript that tells of the end of each run, and answers what code asks. */
function observedTranscript(): Transcript {
  const transcript = createTranscript();
  const finished = transcript.finished.bind(transcript);
  transcript.finished = (run, end) => {
    finished(run, end);
    const { sessionKey = '', head } = transcript.shownRun(run) ?? {};
    const shown = shownEnd(transcript, sessionKey, run);
    const { cancelled = null, exitCode = null } = end.result ?? {};
    const remark = head?.remark ?? null;
    const told = { isReplayed: !isTakenUp, cancelled, exitCode, remark };
    tell({ what: 'finished', run, end: shown, told });
  };
  transcript.onDidChange(({ sessionKey, what }) => {
    if (what !== 'ask' || sessionKey === undefined) return;
    const ask = transcript.openAsk(sessionKey);
    if (ask) queueMicrotask(() => transcript.answer(ask.id, 'yes'));
  });
  return transcript;
}

/** Ends that the window before has shown, which may have died before it told of them. */
function tellRestored(transcript: Transcript): void {
  for (const entry of transcript.outline()) {
    if (entry.kind !== 'run' || !isOverIn(entry.head)) continue;
    const { executionId: run, sessionKey, head } = entry;
    const exitCode = head.state === 'ok' ? 0 : null;
    const cancelled = head.state === 'cancelled';
    const told = { isReplayed: true, cancelled, exitCode, remark: head.remark };
    tell({ what: 'finished', run, end: shownEnd(transcript, sessionKey, run), told });
  }
}

function shownEnd(transcript: Transcript, sessionKey: string, run: string): ShownEnd {
  const entries = transcript.reader(sessionKey).read().entries;
  const shown = entries.find(
    (entry) => entry.kind === 'run' && entry.head?.code.startsWith(`# ${run}\n`) === true,
  );
  if (shown?.kind !== 'run' || shown.head === null) {
    return { state: 'failed', lines: [], strange: 'the panel does not show it' };
  }
  const text = (shown.output?.pieces ?? [])
    .map((piece) => (piece.kind === 'text' ? piece.text : piece.kind === 'gap' ? '(a gap)\n' : ''))
    .join('');
  const lines: number[] = [];
  let strange: string | null = null;
  for (const line of text.split('\n').filter(Boolean)) {
    const [, of, number] = /^(r\d+) (\d+)$/.exec(line) ?? [];
    if (of === run) lines.push(Number(number));
    else strange ??= line;
  }
  if (text !== '' && !text.endsWith('\n')) strange ??= 'the last line has no end';
  return { state: shown.head.state, lines, strange };
}

async function takeUpFrom(
  hosts: Hosts,
  hosting: KernelHosting,
  parts: { readonly transcript: Transcript; readonly runs: Runs },
): Promise<TakenUp> {
  const found = await hosts.toTakeUpSoon();
  if (!found) return {};
  try {
    const adoption = await hosting.adopt(found);
    tell({ what: 'claimed', hostPid: found.pid });
    const preludes = { takeUp: <K>(kernel: K) => Promise.resolve(kernel) };
    return takeUp(adoption, {
      otherPlaces: [],
      record() {},
      ownerId,
      book,
      preludes,
      log,
      ...parts,
    });
  } catch (error) {
    tell({ what: 'notTakenUp', why: messageOf(error) });
    return {};
  }
}

function targetOf(session: string): SessionTarget {
  return {
    language: 'python',
    sessionId: `python:${session}`,
    cwd: folder,
    interpreter: undefined,
    label: session,
  };
}

const seen = ({ id, sessionId, state, pid, queue }: SessionSnapshot): SeenSession => ({
  id,
  sessionId,
  state: state.kind,
  pid: pid ?? null,
  execution: state.kind === 'busy' ? state.execution.id : null,
  queue: queue.map((each) => each.id),
});

async function main(): Promise<void> {
  const transcript = observedTranscript();
  const hosting = createKernelHosting({ ...assignment, log });
  // Read from the start: what is awaited here keeps no process alive by itself.
  const commands = createInterface({ input: process.stdin });
  const early: string[] = [];
  const keepEarly = (line: string): void => void early.push(line);
  commands.on('line', keepEarly);
  commands.once('close', () => void hosting.leave().then(() => process.exit(0)));
  const hosts = new Hosts({ workspace, log, clock, ownPid: () => hosting.hostPid });
  const ids: string[] = [];
  const pool = deferred<KernelPool>();
  const door = new Door({
    execute: async (code, options) => (await pool.promise).execute(code, options),
    disposers: [],
    isStreaming: () => false,
    record: () => undefined,
    log,
  });
  const runs = new Runs({
    ownerId,
    clock,
    transcript,
    door,
    onFailure: (error) => log.warn(`A run failed: ${messageOf(error)}`),
    newId: () => ids.shift() ?? 'unnamed',
    assertAllowed: () => undefined,
    resolve: () => Promise.reject(new Error('Every run names its session.')),
    mode: () => Promise.resolve('session'),
    onBegin: () => undefined,
  });
  const before = await takeUpFrom(hosts, hosting, { transcript, runs });
  tellRestored(transcript);
  isTakenUp = true;
  keepForNextWindow({ host: hosting, ownerId, book, transcript });
  const created = createKernelPool({
    ...before,
    capacity: assignment.capacity,
    onRecord: (id, record) => hosting.keep(keptKeys.session(id), record),
    startKernel: (request) =>
      hosting.startKernel({
        language: 'python',
        interpreter,
        cwd: request.cwd,
        sessionId: request.sessionId,
        env: process.env,
        history: sessionKeyOf(request),
        ...(request.place && { place: request.place }),
        signal: request.signal,
      }),
    ownerKind,
    mayEvict,
    clock,
    log,
  });
  pool.resolve(created);
  const report = (): void => {
    const hostPid = hosting.hostPid ?? null;
    tell({ what: 'sessions', hostPid, sessions: created.sessions().map(seen) });
  };
  created.onDidChangeSessions(report);
  report();
  tell({ what: 'ready' });
  const heard = (line: string): void => obey(JSON.parse(line) as Command, created, runs, ids);
  commands.off('line', keepEarly);
  early.forEach(heard);
  commands.on('line', heard);
}

function obey(command: Command, pool: KernelPool, runs: Runs, ids: string[]): void {
  if (command.do === 'run') {
    ids.push(command.run);
    void runs.run({ code: command.code, to: targetOf(command.session) });
    return;
  }
  const { id, pid } = command;
  if (!pool.sessions().some((session) => session.id === id && session.pid === pid)) return;
  const done = ((): Promise<unknown> => {
    switch (command.do) {
      case 'release':
        return pool.releaseOwner(id, ownerId);
      case 'interrupt':
      case 'restart':
      case 'stop':
      case 'kill':
        return pool[command.do](id);
    }
  })();
  done.catch((error: unknown) => log.info(`${command.do} ${id}: ${messageOf(error)}`));
}

void main();
