import { languageOf } from '../../kernel/language';
import type { HostInventory } from '../../hosting/inventory';
import type { CapacitySnapshot, OwnerSnapshot, SessionSnapshot } from '../../pool/types';
import type { BackgroundFacts } from '../sessions/backgroundRows';
import { ownerKind } from '../sessions/owners';
import { age, bytesInWords, count, duration, stateInWords } from '../sessions/words';
import type { RecentFailure } from './recentFailures';
import { withoutQuotes, type Redact } from './redact';
import type { StopFact } from './stops';

/** All that the report is made of. Times are ms since the epoch. */
export interface Facts {
  readonly now: number;
  readonly versions: readonly string[];
  /** Lines of `changedSettings`. */
  readonly settings: readonly string[];
  readonly ownerId: string;
  readonly sessions: readonly SessionSnapshot[];
  readonly capacity: CapacitySnapshot | undefined;
  /** Background runs, those that are over included. */
  readonly background: readonly BackgroundFacts[];
  readonly stops: readonly StopFact[];
  /** This window's own. */
  readonly hostPid: number | undefined;
  /** A string says why there is none. */
  readonly hosts: readonly HostInventory[] | string;
  readonly failures: readonly RecentFailure[];
}

/**
 * For a person to pass on: no code, no output, no value of the environment, nobody's name for a session. What the facts
 * quote by accident goes through `redact`.
 */
export function diagnosticsReport(facts: Facts, redact: Redact): string {
  const { now, capacity, hosts } = facts;
  const slots = capacity
    ? `${capacity.counted} of ${count(capacity.capacity, 'slot')}, ${capacity.waiting.length} waiting`
    : 'nothing has run yet';
  const hostLines =
    typeof hosts === 'string' ? [`- ${hosts}`] : hosts.flatMap((host) => hostInWords(host, facts));
  const text = [
    `# Holdfast diagnostics, ${time(now)}`,
    ...facts.versions.map((line) => `- ${line}`),
    ...section('Settings that were changed', listed(facts.settings)),
    ...section(
      `Sessions (${slots})`,
      listed(facts.sessions.map((session) => sessionInWords(session, facts))),
    ),
    ...section(
      'Background runs',
      listed(facts.background.map((run) => backgroundInWords(run, facts))),
    ),
    ...section('Last stops', listed(facts.stops.map(stopInWords))),
    ...section('Kernel hosts and their ledgers', hostLines),
    ...section('Recent failures', listed(facts.failures.map(failureInWords))),
  ].join('\n');
  return `${redact(text)}\n`;
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return ['', `## ${title}`, ...(lines.length === 0 ? ['none'] : lines)];
}

function listed(lines: readonly string[]): readonly string[] {
  return lines.map((line) => `- ${line}`);
}

function sessionInWords(session: SessionSnapshot, { now, ownerId }: Facts): string {
  const { state, pid, memoryBytes, withheldEnvironment: withheld } = session;
  const reason =
    state.kind === 'stopUnconfirmed'
      ? `: ${withoutQuotes(state.reason)}`
      : state.kind === 'dead'
        ? `: ${withoutQuotes(state.summary)}`
        : '';
  return [
    `${session.id}: ${languageOf(session.sessionId) ?? 'unknown'}, ${stateInWords(session, now)}${reason}`,
    `for ${duration(now - state.since)}`,
    pid === undefined ? 'no process' : `process ${pid}`,
    `up ${age(now - session.startedAt)}`,
    ...(memoryBytes === undefined ? [] : [bytesInWords(memoryBytes)]),
    `start ${session.incarnation}`,
    `held by ${ownersInWords(session.owners, ownerId)}`,
    `${session.queue.length} in line`,
    ...('attempt' in state ? [`attempt ${state.attempt}`] : []),
    ...(session.privateTo === undefined ? [] : ['private']),
    ...(session.isAboveMemoryCap ? ['above the memory cap'] : []),
    ...(withheld
      ? [
          `restricted environment (${withheld.sensitive.length} sensitive names and ${withheld.unlisted.length} others withheld)`,
        ]
      : []),
    `in ${session.cwd}`,
    session.description ?? session.interpreter ?? 'interpreter not known',
  ].join('; ');
}

function backgroundInWords(run: BackgroundFacts, { now, ownerId }: Facts): string {
  const { status, phase, startedAt, endedAt, pid, memoryBytes, killed, silence, request } = run;
  const owner = { id: request.ownerId ?? ownerId, kind: 'explicit' } as const;
  return [
    phase === undefined ? status : `${status} (${phase})`,
    `started at ${time(startedAt)}`,
    ...(endedAt === undefined
      ? [`for ${duration(now - startedAt)}`, pid === undefined ? 'no process' : `process ${pid}`]
      : [`over after ${duration(endedAt - startedAt)}`]),
    ...(memoryBytes === undefined ? [] : [bytesInWords(memoryBytes)]),
    `held by ${ownersInWords([owner], ownerId)}`,
    ...(killed ? ['killed'] : []),
    ...(silence ? [`not responding for ${duration(now - silence.since)}`] : []),
  ].join('; ');
}

/** How many of each kind: who they are is nobody's business. */
function ownersInWords(owners: readonly OwnerSnapshot[], ownerId: string): string {
  const kinds = owners.map(({ id, kind }) => {
    if (kind !== 'explicit') return kind;
    return id === ownerId ? 'this window' : (ownerKind(id) ?? 'unknown');
  });
  const counts = [...new Set(kinds)].map(
    (kind) => `${kinds.filter((each) => each === kind).length} ${kind}`,
  );
  return counts.join(', ') || 'nobody';
}

function stopInWords({ id, pid, since, at, steps, attempts, end, reason }: StopFact): string {
  const who = `${time(at)} ${id}${pid === undefined ? '' : `, process ${pid}`}`;
  if (end === 'died') return `${who}: ended by itself: ${reason}`;
  const how = [
    ...(steps.length === 0 ? [] : [steps.join(' → ')]),
    ...(attempts > 1 ? [`attempt ${attempts}`] : []),
    ...(reason === '' ? [] : [reason]),
  ];
  const took = duration(at - since);
  const verdict = end === 'over' ? `over after ${took}` : `not over after ${took}`;
  return `${who}: ${[verdict, ...how].join('; ')}`;
}

function hostInWords(host: HostInventory, { hostPid, now }: Facts): readonly string[] {
  const { pid, startTime, life, announced, entries } = host;
  const client = announced?.client;
  const line = [
    pid === undefined ? 'one that has not announced itself' : `process ${pid}`,
    ...(startTime === undefined ? [] : [`started at ${startTime}`]),
    ...(life === undefined ? [] : [life]),
    pid !== undefined && pid === hostPid ? "this window's" : "not this window's",
    ...(announced ? [`protocol ${announced.version}`, count(announced.kernels, 'kernel')] : []),
    ...(client
      ? [
          `client ${client.state}${client.state === 'gone' ? `, kept for ${duration(client.until - now)}` : ''}`,
        ]
      : []),
  ].join('; ');
  return [
    `- ${line}`,
    ...entries.map(({ pid: child, startTime: at, state }) =>
      child === undefined
        ? `  - ${state}`
        : `  - process ${child}, started at ${at ?? 'an unknown time'}: ${state}`,
    ),
  ];
}

function failureInWords({ at, text }: RecentFailure): string {
  return `${time(at)} ${text}`;
}

function time(ms: number): string {
  return new Date(ms).toISOString();
}
