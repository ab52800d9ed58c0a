import fc from 'fast-check';
import { expect, it } from 'vitest';
import { PoolWorld, type Action } from '../../support/poolWorld';

const RUNS = Number(process.env['POOL_MODEL_RUNS'] ?? 2_500);

const owner = fc.constantFrom(undefined, 'a', 'b', 'c');
const key = fc.constantFrom('k1', 'k2', 'k3', 'k4', 'k5');
const anyone = fc.constantFrom('a', 'b', 'c', 'k1', 'k2', 'k3');
const pick = fc.nat({ max: 5 });
const timeoutMs = fc.constantFrom(undefined, undefined, undefined, 50, 5_000);

const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant('run' as const), owner, key, timeoutMs }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('warm' as const), owner, key }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('disposeOwner' as const), owner: anyone }) },
  { weight: 1, arbitrary: fc.constant<Action>({ do: 'disposeAll' }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('abort' as const), pick }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('answerRun' as const),
      pick,
      how: fc.constantFrom('ok' as const, 'ok' as const, 'error' as const, 'reject' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('die' as const), pick }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('answerStop' as const),
      pick,
      how: fc.constantFrom('confirm' as const, 'unconfirmed' as const, 'reject' as const),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('answerStart' as const),
      pick,
      how: fc.constantFrom(
        'ok' as const,
        'ok' as const,
        'ok' as const,
        'fail' as const,
        'EMFILE' as const,
      ),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('advance' as const),
      ms: fc.constantFrom(1, 49, 2_000, 5_000, 30_000, 90_000),
    }),
  },
);

it(
  'keeps its promises under any interleaving',
  { timeout: Math.max(60_000, RUNS * 10) },
  async () => {
    const seed = Number(process.env['POOL_MODEL_SEED'] ?? Date.now() % 2 ** 31);
    console.log(`pool model: seed ${seed}, ${RUNS} runs (POOL_MODEL_SEED repeats them)`);
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 40 }), async (actions) => {
        const world = new PoolWorld();
        for (const one of actions) {
          await world.step(one);
          expect(world.violations).toEqual([]);
        }
        await world.finish();
        expect(world.violations).toEqual([]);
      }),
      { seed, numRuns: RUNS },
    );
  },
);
