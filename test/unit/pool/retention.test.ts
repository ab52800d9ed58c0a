import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Emitter } from '../../../src/base/event';
import type { KernelExit } from '../../../src/kernel/kernel';
import { okReply } from '../../support/fakeKernel';
import { harness, settle, watch, type Harness } from '../../support/poolHarness';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const MINUTES = 60_000;
const ownerKind = (id: string) => (id.startsWith('w') ? ('window' as const) : ('chat' as const));
const sd = ({ kernels }: Harness): number[] => kernels.all.map((kernel) => kernel.sd);

describe('B6 idle expiry', () => {
  it('a timer ends a session 30 minutes after its last request', async () => {
    const h = harness({ ownerKind });
    await h.run('chat', 's');
    await vi.advanceTimersByTimeAsync(20 * MINUTES);
    await h.run('chat', 's');
    await vi.advanceTimersByTimeAsync(30 * MINUTES - 1);
    expect(sd(h)).toEqual([0]);
    await vi.advanceTimersByTimeAsync(1);
    expect(h.kernels.at(0).shutdowns).toEqual([undefined]);
    expect((await h.run('chat', 's')).output).toMatch(/expired after 30 minutes/);
  });

  it('is off while a window holds, and counts from its leaving', async () => {
    const h = harness({ ownerKind });
    await h.run('window', 's');
    await h.run('chat', 's');
    await vi.advanceTimersByTimeAsync(100 * MINUTES);
    expect(sd(h)).toEqual([0]);
    await h.pool.disposeOwner('window');
    await vi.advanceTimersByTimeAsync(30 * MINUTES - 1);
    expect(sd(h)).toEqual([0]);
    await vi.advanceTimersByTimeAsync(1);
    expect(sd(h)).toEqual([1]);
  });

  it('never takes a running session, and 0 turns it off', async () => {
    const busy = harness({ ownerKind, execute: 'hang' });
    const off = harness({ ownerKind, idleExpiryMs: 0 });
    void busy.run('chat', 's');
    await off.run('chat', 's');
    await vi.advanceTimersByTimeAsync(100 * MINUTES);
    expect([...sd(busy), ...sd(off)]).toEqual([0, 0]);
  });

  it('a clock that jumps (a machine that slept) is not time without use', async () => {
    const h = harness({ ownerKind });
    await h.run('chat', 's');
    vi.setSystemTime(Date.now() + 6 * 60 * MINUTES);
    await vi.advanceTimersByTimeAsync(30 * MINUTES - 1);
    expect(sd(h)).toEqual([0]);
  });
});

describe('A9 memory recycling', () => {
  const MIB = 1024 * 1024;
  const withMemory = (bytes: () => number | Promise<number>, more: object = {}): Harness =>
    harness({
      ownerKind,
      prepare: (kernel) => void Object.assign(kernel, { memory: async () => bytes() }),
      ...more,
    });

  it('acts strictly above the cap, once idle, and the next output says so', async () => {
    let bytes = 1024 * MIB;
    const h = withMemory(() => bytes);
    await h.run('chat', 's');
    await settle();
    expect(sd(h)).toEqual([0]);
    expect(h.pool.sessions()[0]?.memoryBytes).toBe(bytes);
    bytes++;
    await h.run('chat', 's');
    await settle();
    expect(sd(h)).toEqual([1, 0]);
    expect(h.pool.sessions()).toMatchObject([{ id: 'session-1', incarnation: 2 }]);
    bytes = 0;
    expect((await h.run('chat', 's')).output).toMatch(/^\[New kernel.*recycled.*1024 MiB.*\]\n$/);
    expect((await h.run('chat', 's')).output).toBe('');
  });

  it('waits until the session is idle', async () => {
    const h = withMemory(() => 2048 * MIB, { execute: 'hang' });
    void h.run('chat', 's');
    const second = watch(h.run('chat', 's'));
    await settle();
    h.kernels.at(0).finish();
    await settle();
    expect(sd(h)).toEqual([0]);
    h.kernels.at(0).finish();
    await second.promise;
    await settle();
    expect(sd(h)).toEqual([1, 0]);
  });

  it('a sample of a kernel that was replaced meanwhile does nothing', async () => {
    let answer = (_: number): void => {};
    const h = withMemory(() => new Promise<number>((resolve) => (answer = resolve)));
    await h.run('chat', 's');
    await h.pool.restart('session-1');
    const late = answer;
    late(4096 * MIB);
    await settle();
    expect(sd(h)).toEqual([1, 0]);
  });

  it.each([0, -1])('a cap of %i turns it off; not a number is the default', async (memoryCapMb) => {
    const off = withMemory(() => 9e12, { memoryCapMb });
    const byDefault = withMemory(() => 1025 * MIB, { memoryCapMb: Number.NaN });
    await off.run('chat', 's');
    await byDefault.run('chat', 's');
    await settle();
    expect([sd(off), sd(byDefault)]).toEqual([[0], [1, 0]]);
  });

  it('warns about a window’s session instead', async () => {
    const h = withMemory(() => 2048 * MIB);
    await h.run('window', 's');
    await settle();
    expect(sd(h)).toEqual([0]);
    expect(h.pool.sessions()).toMatchObject([{ isAboveMemoryCap: true }]);
  });
});

describe('B7 no silent loss of state', () => {
  it('tells each owner once why the kernel is new, and nobody who has lost nothing', async () => {
    const h = harness({ capacity: 1 });
    await h.run('a', 's');
    await h.run('b', 's');
    await h.run('c', 'other');
    expect((await h.run('new', 's')).output).toBe('');
    expect((await h.run('a', 's')).output).toMatch(/evicted/);
    expect((await h.run('b', 's', { code: 'again' })).output).toMatch(/evicted/);
    expect((await h.run('a', 's')).output).toBe('');
  });

  it.each([
    ['died', /Ended by SIGKILL/],
    ['reset', /reset by a/],
    ['restarted', /restarted by a person/],
    ['killed', /killed by a person/],
    ['released', /a person released it/],
    ['stopped with all others', /everything was stopped/],
  ])('%s', async (how, told) => {
    const h = harness();
    await h.run(undefined, 's');
    if (how === 'died') {
      const exit: KernelExit = {
        code: null,
        signal: 'SIGKILL',
        stderrTail: '',
        summary: 'Ended by SIGKILL.',
      };
      Object.assign(h.kernels.at(0), { alive: false, exit });
    }
    if (how === 'restarted') await h.pool.restart('session-1');
    if (how === 'killed') await h.pool.kill('session-1');
    if (how === 'released') await h.pool.releaseOwner('session-1', 's');
    if (how === 'stopped with all others') await h.pool.disposeAll();
    if (how === 'reset') {
      await h.run('a', 's');
      await h.run('b', 's');
      await h.pool.disposeOwner('b');
      expect((await h.run('a', 's', { reset: true })).output).toBe('');
      return;
    }
    expect((await h.run(undefined, 's')).output).toMatch(told);
  });

  it.each(['released', 'stopped with all others'])(
    '%s without effect: nothing is lost, and nothing told',
    async (how) => {
      const h = harness({ shutdown: 'unconfirmed' });
      await h.run('a', 's');
      if (how === 'released') await h.pool.releaseOwner('session-1', 'a');
      else await h.pool.disposeAll();
      expect((await h.run('a', 's')).output).toBe('');
      expect(h.kernels.starts).toBe(1);
    },
  );

  it('an owner that let go is told nothing when it comes back', async () => {
    const h = harness();
    await h.run('a', 's');
    await h.pool.disposeOwner('a');
    expect((await h.run('a', 's')).output).toBe('');
  });

  it('tells the others when one owner’s code changed the directory', async () => {
    const h = harness({ execute: 'hang' });
    const run = async (owner: string, cwd: string) => {
      const result = h.run(owner, 's');
      await settle();
      h.kernels.at(0).finish({ ...okReply, cwd });
      return (await result).output;
    };
    await run('a', '/w');
    await run('b', '/w');
    expect(await run('b', '/elsewhere')).toBe('');
    expect(await run('a', '/elsewhere')).toMatch(
      /working directory is \/elsewhere now: b changed it/,
    );
    expect(await run('a', '/elsewhere')).toBe('');
    expect(await run('b', '/elsewhere')).toBe('');
  });
});

it('a kernel that dies idle is shown as dead with its cause; one that dies while unconfirmed is gone', async () => {
  const exits = [new Emitter<KernelExit>(), new Emitter<KernelExit>()];
  const exit: KernelExit = { code: 3, signal: null, stderrTail: '', summary: 'Exited with 3.' };
  const h = harness({
    shutdown: 'unconfirmed',
    prepare: (kernel, index) =>
      void Object.assign(kernel, { onDidExit: exits[index]?.event, exit }),
  });
  await h.run('a', 'a');
  await h.run('b', 'b');
  h.kernels.at(0).alive = false;
  exits[0]?.fire(exit);
  expect(h.pool.sessions()[0]?.state).toMatchObject({ kind: 'dead', summary: 'Exited with 3.' });
  await h.pool.disposeOwner('b');
  expect(h.pool.capacity().counted).toBe(2);
  h.kernels.at(1).alive = false;
  exits[1]?.fire(exit);
  expect(h.pool.capacity().counted).toBe(1);
});

it('listeners are told after the change, once for what belongs together; unchanged snapshots stay the same', async () => {
  const h = harness();
  await h.run('a', 's');
  await h.run('b', 't');
  const seen: string[] = [];
  const subscription = h.pool.onDidChangeSessions(() => {
    seen.push(
      h.pool
        .sessions()
        .map(({ state }) => state.kind)
        .join(),
    );
  });
  const [, before] = h.pool.sessions();
  await h.run('a', 's');
  await settle();
  expect(seen.at(-1)).toBe('idle,idle');
  expect(h.pool.sessions()[1]).toBe(before);
  const count = seen.length;
  await settle();
  expect(seen).toHaveLength(count);
  subscription.dispose();
  await h.pool.disposeAll();
  expect(seen).toHaveLength(count);
});
