import { describe, expect, it } from 'vitest';
import { endInWords } from '../../../src/editor/background/backgroundActions';
import { backgroundHeads } from '../../../src/editor/background/heads';
import { backgroundRows } from '../../../src/editor/sessions/backgroundRows';
import { backgroundOfRow, sessionOfRow } from '../../../src/editor/sessions/row';
import type { BackgroundSnapshot } from '../../../src/runner/backgroundTypes';

const now = 1_000_000;
const context = { now, ownerId: 'window:me' };

function run(more: Partial<BackgroundSnapshot> = {}): BackgroundSnapshot {
  const request = {
    ...{ executionId: 'r1', code: 'train(model)\nsave()', startedAt: now - 12_300, cwd: '/w' },
    ...{ ownerId: 'window:me', source: { file: '/w/a.py', line: 3 } },
  };
  return {
    ...{ executionId: 'r1', status: 'running', done: false, stdout: '', interrupted: false },
    ...{ error: undefined, startedAt: now - 12_300, endedAt: undefined, phase: 'executing' },
    request,
    artifact: '/s/r1.txt',
    ...more,
  } as BackgroundSnapshot;
}

const over = (more: Partial<BackgroundSnapshot>): BackgroundSnapshot =>
  run({ done: true, endedAt: now, ...more });

describe('the row of a background run', () => {
  it('that goes on says what, how long and for whom, and what can be done', () => {
    const [row] = backgroundRows([run()], context);
    expect(row).toMatchObject({
      label: 'train(model)',
      description: 'running · in the background',
      contextValue: 'holdfast.background going revealable onDisk',
      spoken: 'train(model), background run, running, held by This window',
    });
    expect(row?.children.map(({ label, description }) => `${label} | ${description}`)).toEqual([
      'Running | 12 s',
      'This window | holds it',
    ]);
    expect([backgroundOfRow(row?.id), sessionOfRow(row?.id)]).toEqual(['r1', undefined]);
  });

  it('that is over says how it ended, without rows below it', () => {
    const rows = backgroundRows(
      [
        over({ status: 'done' }),
        over({ status: 'interrupted', executionId: 'r2' }),
        over({
          status: 'failed',
          executionId: 'r3',
          error: 'Traceback\n  \u001b[31mE: no\u001b[0m\n',
        }),
        over({ status: 'failed', executionId: 'r4', error: 'It was killed.', killed: true }),
      ],
      context,
    );
    expect(rows.map(({ description }) => description.split(' · ')[0])).toEqual([
      'done after 12 s',
      'interrupted after 12 s',
      'failed after 12 s: E: no',
      'killed after 12 s',
    ]);
    expect(rows.flatMap(({ children }) => children)).toEqual([]);
    expect(rows.every(({ contextValue }) => contextValue.includes(' over'))).toBe(true);
  });

  it('has a shape of its own in each state', () => {
    const rows = backgroundRows(
      [
        run(),
        { ...run(), unheeded: true },
        ...(['done', 'failed', 'interrupted'] as const).map((status) => over({ status })),
      ],
      context,
    );
    expect(new Set(rows.map(({ icon }) => icon.name)).size).toBe(5);
    expect(rows[1]?.spoken).toContain('interrupt not heeded');
  });

  it('says what is known of its kernel in the words of sessions: memory, and that it does not respond', () => {
    const facts = { pid: 7, memoryBytes: 50 * 2 ** 20 };
    const [well] = backgroundRows([{ ...run(), ...facts }], context);
    expect(well?.children.at(-1)).toMatchObject({
      ...{ label: 'Process 7', description: '50 MB · up under 1 min' },
    });
    expect(well?.details).toContainEqual(['Process', '7']);
    // What a person points at is not drawn anew for a figure.
    expect(well?.details.map(([name]) => name)).not.toContain('Memory');

    const silence = { since: now - 9_000, of: 'kernel' } as const;
    const [silent] = backgroundRows([{ ...run(), ...facts, silence }], context);
    expect(silent).toMatchObject({
      description: 'running, not responding · in the background',
      icon: { name: 'debug-disconnect' },
    });
    expect(silent?.children[0]).toMatchObject({
      label: 'Not responding',
      description: 'for 9 s · native code may keep it busy, or it is suspended; Kill ends it',
    });
    expect(silent?.details.map(([name]) => name)).toContain('Not responding');
    const [head] = backgroundHeads([{ ...run(), silence }]);
    expect(head?.description).toBe('not responding · in the background');
  });

  it('names other owners, by their name where they have one', () => {
    const of = (more: object): string | undefined =>
      backgroundRows([run({ request: { ...run().request, ...more } })], context)[0]?.spoken;
    expect(of({ ownerId: 'chat:7', ownerName: 'Tidy up' })).toContain('held by Tidy up');
    expect(of({ ownerId: 'chat:7' })).toContain('held by Chat 7');
  });

  it('is there for all that go on and for the latest ten that are over', () => {
    const many = Array.from({ length: 14 }, (_, at) =>
      over({ status: 'done', executionId: `o${at}` }),
    );
    const rows = backgroundRows([...many, run()], context);
    expect(rows).toHaveLength(11);
    expect(rows.map(({ id }) => backgroundOfRow(id)).slice(0, 2)).toEqual(['r1', 'o4']);
  });
});

it('each has a tab in the panel: those that go on, and the latest that are over, with how they ended', () => {
  const done = over({
    status: 'done',
    request: { ...run().request, executionId: 'r2', label: 'L' },
  });
  const heads = backgroundHeads([done, run()]);
  expect(heads.map(({ label, state }) => [label, state])).toEqual([
    ['train(model)', 'busy'],
    ['L', 'done'],
  ]);
  expect(new Set(heads.map(({ key }) => key)).size).toBe(2);
});

it('its end in words', () => {
  expect(endInWords(over({ status: 'failed', error: 'It was killed.' }))).toBe(
    'The background run train(model) was killed after 12 s.',
  );
  expect(endInWords(over({ status: 'failed' }))).toBe(
    'The background run train(model) failed after 12 s.',
  );
});
