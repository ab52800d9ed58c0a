import type { SessionRecord } from '../../pool/records';
import { isOverIn, type OutlineEntry } from '../panel/outline';
import { sessionKeyOf } from '../sessions/target';
import type { ShownEntry } from './keptState';
import type { PastEvent } from './replay';

type Histories = ReadonlyMap<string, readonly PastEvent[]>;

/**
 * What the window before showed, with all code, in order. Left out: runs that nobody goes on with, as those of agents that
 * waited, and runs that were sent so long ago that the host has let go of them, which the kept transcripts tell of.
 */
export function outlineOf(
  shown: readonly ShownEntry[],
  histories: Histories,
  records: readonly SessionRecord[],
): readonly OutlineEntry[] {
  const codes = codesIn(histories);
  const goOn = new Set<string>();
  for (const { execution, queue } of records) {
    if (execution) goOn.add(execution.id);
    for (const { id, code } of queue) {
      if (code === undefined) continue;
      goOn.add(id);
      codes.set(id, code);
    }
  }
  return shown.flatMap((entry): OutlineEntry[] => {
    if (entry.kind === 'note') return [entry];
    const { executionId, head } = entry;
    const sent = codes.get(executionId);
    if (sent === undefined && !isOverIn(head) && !goOn.has(executionId)) return [];
    const code = sent ?? head.code;
    return code === null ? [] : [{ ...entry, head: { ...head, code } }];
  });
}

/** Code that was sent, by execution. */
export function codesIn(histories: Histories): Map<string, string> {
  const events = [...histories.values()].flat();
  return new Map(
    events.flatMap((event) => (event.what === 'begun' ? [[event.execution, event.code]] : [])),
  );
}

/** Keys of the sessions that something is known of. Last is what a person will look at: the one of those that go on that ran last. */
export function sessionsInOrder(
  histories: Histories,
  outline: readonly OutlineEntry[],
  records: readonly SessionRecord[],
): readonly string[] {
  const goOn = new Set(records.map(sessionKeyOf));
  const ranAt = new Map<string, number>();
  const ran = (key: string, at: number): void =>
    void ranAt.set(key, Math.max(at, ranAt.get(key) ?? 0));
  for (const [key, events] of histories) {
    ran(key, 0);
    for (const event of events) if (event.what === 'begun') ran(key, event.at);
  }
  for (const { kind, sessionKey, place } of outline) ran(sessionKey, kind === 'run' ? place : 0);
  return [...ranAt]
    .sort(([a, aAt], [b, bAt]) => Number(goOn.has(a)) - Number(goOn.has(b)) || aAt - bAt)
    .map(([key]) => key);
}
