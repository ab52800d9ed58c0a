import { expect, it } from 'vitest';
import { lazy } from '../../src/base/lazy';

it('makes it once', () => {
  let made = 0;
  const get = lazy(() => ({ n: ++made }));
  expect(get()).toBe(get());
  expect(made).toBe(1);
});

it('a promise that rejects is shared while it is awaited, and tried again after', async () => {
  let tries = 0;
  const get = lazy(() =>
    ++tries === 1 ? Promise.reject(new Error('no')) : Promise.resolve(tries),
  );
  const [first, same] = [get(), get()];
  expect(first).toBe(same);
  await expect(first).rejects.toThrow('no');
  expect(await get()).toBe(2);
  expect(await get()).toBe(2);
});

it('a throw is not kept either', () => {
  let tries = 0;
  const get = lazy(() => {
    if (++tries === 1) throw new Error('no');
    return tries;
  });
  expect(get).toThrow('no');
  expect(get()).toBe(2);
});
