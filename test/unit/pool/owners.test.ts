import { describe, expect, it } from 'vitest';
import { OwnerIndex, OwnerSet } from '../../../src/pool/owners';

const nobody = { ownerAppeared() {}, ownerLeft() {} };

/** Attaches (`+a`, `+` for nobody) and releases (`-a`) in order. */
function after(...steps: string[]): string {
  const owners = new OwnerSet('s', nobody);
  for (const step of steps) {
    const id = step.slice(1);
    if (step.startsWith('+')) owners.attach(id === '' ? undefined : id);
    else owners.release(id);
  }
  return owners
    .snapshot()
    .map(({ id, kind }) => `${kind} ${id}`)
    .join();
}

describe('the owner set', () => {
  it.each([
    [['+'], 'fallback s'],
    [['+', '+'], 'fallback s'],
    [['+a'], 'explicit a'],
    [['+', '+a'], 'explicit a'],
    [['+a', '+'], 'explicit a'],
    [['+a', '+b'], 'explicit a,explicit b'],
    [['+a', '+b', '-a'], 'explicit b'],
    [['+a', '-a'], 'departed a'],
    [['+', '-s'], 'departed s'],
    [['+', '+a', '-s'], 'explicit a'],
    [['+a', '-a', '+b'], 'explicit b'],
    [['+a', '-a', '+a'], 'explicit a'],
    [['+a', '-a', '+'], 'fallback s'],
    [['+s', '+'], 'explicit s'],
    [['-a'], ''],
  ])('after %j: %s', (steps, owners) => {
    expect(after(...steps)).toBe(owners);
  });

  it('tells what a release meant', () => {
    const owners = new OwnerSet('s', nobody);
    owners.attach('a');
    owners.attach('b');
    expect(['x', 'a', 'a', 'b', 'b'].map((id) => owners.release(id))).toEqual([
      'absent',
      'detached',
      'absent',
      'last',
      'departed',
    ]);
  });
});

it('the index knows every place of an owner, also of a departed one, until it is gone', () => {
  const index = new OwnerIndex<string>();
  const one = new OwnerSet('s', index.watch('one'));
  const two = new OwnerSet('s', index.watch('two'));
  one.attach('a');
  two.attach('a');
  two.attach('b');
  expect(index.placesOf('a')).toEqual(['one', 'two']);
  two.release('a');
  one.release('a');
  expect(index.placesOf('a')).toEqual(['one']);
  one.clear();
  expect(index.placesOf('a')).toEqual([]);
  two.attach(undefined);
  expect(index.placesOf('s')).toEqual([]);
  two.release('b');
  two.attach(undefined);
  expect([index.placesOf('b'), index.placesOf('s')]).toEqual([[], ['two']]);
});
