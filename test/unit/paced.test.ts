import { expect, test, vi } from 'vitest';
import { paced } from '../../src/hosting/paced';

test('asks at once, then not before the pause is over, and calls meanwhile share the answer', async () => {
  vi.useFakeTimers();
  let asked = 0;
  const ask = paced(1000, () => Promise.resolve(++asked));

  await expect(ask()).resolves.toBe(1);
  const early = [ask(), ask()];
  await vi.advanceTimersByTimeAsync(999);
  expect(asked).toBe(1);
  await vi.advanceTimersByTimeAsync(1);
  await expect(Promise.all(early)).resolves.toEqual([2, 2]);

  await vi.advanceTimersByTimeAsync(1000);
  await expect(ask()).resolves.toBe(3);
  vi.useRealTimers();
});

test('a failure is shared too, and the next call asks anew', async () => {
  let asked = 0;
  const ask = paced(0, () => {
    asked += 1;
    return asked === 1 ? Promise.reject(new Error('no figure')) : Promise.resolve(asked);
  });
  await expect(ask()).rejects.toThrow('no figure');
  await expect(ask()).resolves.toBe(2);
});
