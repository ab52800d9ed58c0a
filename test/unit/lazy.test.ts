import { expect, it } from 'vitest';
import { later, lazy } from '../../src/base/lazy';

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

it('what is made later is there to look at once somebody has used it, and not before', async () => {
  let tries = 0;
  const part = later(async () => {
    await Promise.resolve();
    if (++tries === 1) throw new Error('no');
    return { tries };
  });
  expect(part.made).toBeUndefined();
  await expect(part.get()).rejects.toThrow('no');
  expect(part.made).toBeUndefined();
  const made = part.get();
  expect(part.made).toBeUndefined();
  expect(await made).toEqual({ tries: 2 });
  expect(part.made).toBe(await part.get());
});
