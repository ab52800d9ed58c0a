import { describe, expect, test } from 'vitest';
import { Heartbeat } from '../../src/base/heartbeat';
import { ManualClock } from '../support/manualClock';

/** A manual clock whose time of day somebody sets. */
class SetClock extends ManualClock {
  offset = 0;

  override now(): number {
    return super.now() + this.offset;
  }
}

function heartbeat(): {
  clock: SetClock;
  beat: Heartbeat;
  asked: () => number;
  changes: (number | undefined)[];
} {
  const clock = new SetClock();
  let asked = 0;
  const changes: (number | undefined)[] = [];
  const beat = new Heartbeat(
    { clock, ask: () => (asked += 1), onChange: (since) => changes.push(since) },
    1_000,
  );
  return { clock, beat, asked: () => asked, changes };
}

describe('a heartbeat', () => {
  test('of a side that answers asks once a beat and says nothing', async () => {
    const { clock, beat, asked, changes } = heartbeat();
    for (let second = 0; second < 10; second += 1) {
      await clock.advance(1_000);
      beat.heard();
    }
    expect(asked()).toBe(10);
    expect(changes).toEqual([]);
    expect(beat.silentSince).toBeUndefined();
  });

  test('of a silent one is missed two beats after the question, which stays the only one', async () => {
    const { clock, beat, asked, changes } = heartbeat();
    const start = clock.now();
    await clock.advance(2_999);
    expect(changes).toEqual([]);
    await clock.advance(1);
    expect(changes).toEqual([start + 1_000]);
    expect(beat.silentSince).toBe(start + 1_000);
    await clock.advance(60_000);
    expect(asked()).toBe(1);
    expect(changes).toHaveLength(1);
  });

  test('is over with any sign of life, and the next silence is another one', async () => {
    const { clock, beat, changes } = heartbeat();
    await clock.advance(10_000);
    beat.heard();
    expect(beat.silentSince).toBeUndefined();
    expect(changes.slice(1)).toEqual([undefined]);
    const again = clock.now();
    await clock.advance(3_000);
    expect(changes.slice(2)).toEqual([again + 1_000]);
  });

  test('minds neither a sleep of hours nor a clock that is set (positron 6660)', async () => {
    const { clock, beat, changes } = heartbeat();
    const hours = 6 * 3_600_000;
    await clock.advance(1_000);
    // Asleep with a question open: on waking one beat is overdue, once, and then the answer is read.
    clock.offset += hours;
    await clock.advance(1_000);
    beat.heard();
    clock.offset -= 2 * hours;
    for (let second = 0; second < 5; second += 1) {
      await clock.advance(1_000);
      beat.heard();
    }
    expect(changes).toEqual([]);
  });

  test('disposed asks no more', async () => {
    const { clock, beat, asked } = heartbeat();
    beat.dispose();
    await clock.advance(10_000);
    expect(asked()).toBe(0);
  });
});
