import { describe, expect, test } from 'vitest';
import { longestStop, STOP_DEADLINES as deadlines } from '../../src/kernel/limits';
import { planStop, type StopSituation } from '../../src/kernelHost/process/stopPlan';

const plan = (situation: Partial<StopSituation>): string[] =>
  planStop({
    busy: false,
    killedBefore: false,
    limitMs: undefined,
    deadlines,
    ...situation,
  }).map(({ step, until }) => `${step} until ${Math.round(until)}`);

describe('the steps of a stop', () => {
  test('unlimited: each step has its own deadline; only a busy kernel is interrupted', () => {
    expect(plan({})).toEqual(['ask until 3000', 'terminate until 5000', 'kill until 7000']);
    expect(plan({ busy: true })).toEqual([
      'ask until 200',
      'interrupt until 2200',
      'terminate until 4200',
      'kill until 6200',
    ]);
  });

  test('limited: the kill is sent 500 ms before the end, and the end leaves time to answer', () => {
    expect(plan({ limitMs: 2_000 })).toEqual([
      'ask until 900',
      'terminate until 1500',
      'kill until 1900',
    ]);
    expect(plan({ limitMs: 20_000 }).slice(-2)).toEqual([
      'terminate until 19500',
      'kill until 19900',
    ]);
  });

  test('no time for anything milder: the kill at once', () => {
    expect(plan({ limitMs: 500 })).toEqual(['kill until 400']);
    expect(plan({ limitMs: 50 })).toEqual(['kill until 0']);
  });

  test('killed before: nothing milder is tried again', () => {
    expect(plan({ killedBefore: true, busy: true })).toEqual(['kill until 2000']);
  });

  test('a step with no time is left out, and the one before it has what is left', () => {
    const noTerminate = { ...deadlines, terminate: 0 };
    expect(plan({ deadlines: noTerminate })).toEqual(['ask until 3000', 'kill until 5000']);
    expect(plan({ deadlines: noTerminate, limitMs: 2_000 })).toEqual([
      'ask until 1500',
      'kill until 1900',
    ]);
    const none = { ...deadlines, askIdle: 0, askBusy: 0, interrupt: 0, terminate: 0 };
    expect(plan({ deadlines: none, busy: true })).toEqual(['kill until 2000']);
    expect(plan({ deadlines: none, limitMs: 9_000 })).toEqual(['kill until 2000']);
  });

  test('the sum of the deadlines limits an unlimited stop', () => {
    expect(longestStop(deadlines)).toBe(8_000);
  });
});
