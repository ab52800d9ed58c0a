import { expect, it } from 'vitest';
import type { ExecutionReply } from '../../../src/kernel/execution';
import type { PooledKernel } from '../../../src/kernel/kernel';
import { backgroundKernelOf } from '../../../src/runner/pooledBackground';

const ok: ExecutionReply = {
  status: 'ok',
  cancelled: false,
  timedOut: false,
  stdinRequested: false,
};
const kernel = (
  reply: Partial<ExecutionReply>,
  more: Partial<PooledKernel> = {},
): PooledKernel => ({
  isAlive: () => true,
  execute: (_, { onOutput }) => {
    onOutput({ type: 'error', name: 'E', value: 'v', traceback: 'Traceback: E' });
    return Promise.resolve({ ...ok, ...reply });
  },
  shutdown: () => Promise.resolve({ confirmed: true }),
  ...more,
});
const run = (one: PooledKernel): Promise<unknown> =>
  backgroundKernelOf(one, 'e').execute('x', { onOutput: () => undefined });

it('a pooled kernel’s reply is a background outcome, with the traceback as the error', async () => {
  expect(await run(kernel({}))).toEqual({});
  expect(await run(kernel({ status: 'error' }))).toEqual({ error: 'Traceback: E' });
  expect(await run(kernel({ status: 'error', cancelled: true }))).toEqual({ interrupted: true });
  expect(await run(kernel({ stdinRequested: true }))).toMatchObject({
    error: expect.stringContaining('input'),
  });
});

it('a kernel that died under its run is a failure of ours, and no interrupt', async () => {
  const dead = kernel({ cancelled: true }, { isAlive: () => false });
  await expect(run(dead)).rejects.toMatchObject({ code: 'kernel_died' });
});

it('a stop that is not confirmed rejects; a kernel without interrupt says so', async () => {
  const shutdown = (): Promise<{ confirmed: false }> => Promise.resolve({ confirmed: false });
  const background = backgroundKernelOf(kernel({}, { shutdown }), 'e');
  await expect(background.shutdown()).rejects.toMatchObject({ code: 'stop_unconfirmed' });
  await expect(background.kill()).rejects.toMatchObject({ code: 'stop_unconfirmed' });
  expect(await background.interrupt()).toMatchObject({ delivered: false });
});
