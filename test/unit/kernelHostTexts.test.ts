import { describe, expect, test } from 'vitest';
import { describeExit } from '../../src/kernelHost/embedded/exitText';
import { toOutput } from '../../src/kernelHost/embedded/frameOutput';
import { kernelEnvironment } from '../../src/kernelHost/process/environment';

describe('how a kernel ended, in words', () => {
  const exit = (
    status: { code: number | null; signal: string | null },
    more: Partial<Parameters<typeof describeExit>[0]> = {},
  ): string =>
    describeExit({ status, stderr: '', stopped: false, failure: undefined, ...more }).summary;

  test('a signal is named, with what is known of it and what comes next', () => {
    expect(exit({ code: null, signal: 'SIGKILL' })).toBe(
      'The kernel was killed (SIGKILL), perhaps because memory ran out, or by hand. ' +
        'Its variables are lost; the next run starts a new kernel.',
    );
    expect(exit({ code: null, signal: 'SIGTERM' })).toMatch(/was ended by SIGTERM/);
    expect(exit({ code: null, signal: 'SIGABRT' })).toMatch(/crashed \(SIGABRT\)/);
  });

  test('a crash says where it stood, where the interpreter told', () => {
    const stderr =
      'Fatal Python error: Segmentation fault\n\nCurrent thread 0x1 (most recent call first):\n' +
      '  File "/w/a.py", line 3 in f\n  File "/w/b.py", line 9 in <module>\n';
    expect(exit({ code: null, signal: 'SIGSEGV' }, { stderr })).toMatch(
      /crashed \(SIGSEGV.*; it stood at \/w\/a\.py, line 3\./,
    );
  });

  test('a shell that reports its child’s signal as a code is understood', () => {
    expect(exit({ code: 139, signal: null })).toMatch(/SIGSEGV/);
  });

  test('a stop that was asked for is no accident; one by us says why', () => {
    const status = { code: null, signal: 'SIGKILL' };
    expect(exit(status, { stopped: 'asked' })).toBe('The kernel was stopped.');
    expect(exit(status, { failure: 'Bad frame' })).toMatch(/had to be stopped: Bad frame\. /);
    expect(exit({ code: 3, signal: null })).toMatch(/ended by itself with code 3/);
  });
});

test('a kernel’s environment has its nonce and nothing that steers the editor', () => {
  const given = {
    PATH: '/bin',
    ELECTRON_RUN_AS_NODE: '1',
    VSCODE_IPC_HOOK: 'x',
    NODE_OPTIONS: '--inspect',
    HOLDFAST_KERNEL_NONCE: 'outer',
  };
  expect(kernelEnvironment(given, { A: '1' }, 'inner')).toEqual({
    PATH: '/bin',
    A: '1',
    HOLDFAST_KERNEL_NONCE: 'inner',
  });
});

test('a display with an id is one to update; without, an update is a display of its own', () => {
  const frame = { op: 'display', run: 'r', data: {}, metadata: {} } as const;
  expect(toOutput({ ...frame, displayId: 'd' })).toMatchObject({ type: 'display', displayId: 'd' });
  expect(toOutput({ ...frame, displayId: 'd', update: true })).toMatchObject({
    type: 'updateDisplay',
  });
  expect(toOutput(frame)).not.toHaveProperty('displayId');
});
