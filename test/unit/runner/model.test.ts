import { AsyncResource } from 'node:async_hooks';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { deferred, type Deferred } from '../../../src/base/deferred';
import { codeOf } from '../../../src/base/errors';
import { createAdmission, type Admission } from '../../../src/runner/admission';
import { createBackgroundRuns } from '../../../src/runner/background';
import type { BackgroundKernel } from '../../../src/runner/backgroundTypes';
import { FakeBackgroundKernel } from '../../support/backgroundWorld';
import { flush } from '../../support/manualClock';

type Kind = 'capture' | 'mutation' | 'background' | 'run';
type Step =
  | { readonly do: 'enter'; readonly kind: Kind; readonly within: number | undefined }
  | { readonly do: 'leave'; readonly pick: number };

interface Holding {
  readonly kind: Kind;
  /** The outermost of those that it is nested in. */
  readonly owner: object;
  readonly leave: Deferred<void>;
  /** Runs something as this one's own. */
  readonly inside: (fn: () => void) => void;
}

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    do: fc.constant('enter' as const),
    kind: fc.constantFrom<Kind>('capture', 'mutation', 'background', 'run'),
    within: fc.option(fc.nat({ max: 4 }), { nil: undefined }),
  }),
  fc.record({ do: fc.constant('leave' as const), pick: fc.nat({ max: 5 }) }),
);

/** What the rule says, in its shortest form. */
function mayEnter(kind: Kind, owner: object | undefined, held: readonly Holding[]): boolean {
  return held.every((other) => {
    if (other.kind === 'run') return kind !== 'capture';
    if (kind === 'run') return other.kind !== 'capture' || other.owner === owner;
    if (other.kind !== kind) return false;
    return kind === 'background' || other.owner === owner;
  });
}

function begin(admission: Admission, kind: Kind, body: () => Promise<void>): Promise<void> {
  switch (kind) {
    case 'capture':
      return admission.capture(body);
    case 'mutation':
      return admission.externalMutation(body);
    case 'run':
      return admission.ordinaryRun(body);
    case 'background':
      return admission.background().then(async (lease) => {
        await body();
        await lease.release();
        await lease.release();
      });
  }
}

it(
  'admission: any interleaving agrees with the rule, and nothing is left',
  { timeout: 30_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const admission = createAdmission({ captureEnabled: true });
        const held: Holding[] = [];
        const ends: Promise<unknown>[] = [];
        for (const one of steps) {
          if (one.do === 'leave') {
            const [holding] = held.splice(one.pick % Math.max(1, held.length), 1);
            holding?.leave.resolve();
            await flush(12);
            continue;
          }
          const outer = held.filter(({ kind }) => kind !== 'background' && kind !== 'run');
          const parent =
            one.within === undefined ? undefined : outer[one.within % (outer.length || 1)];
          const expected = mayEnter(one.kind, parent?.owner, held);
          // A run that has to wait is for the tests of its own.
          if (one.kind === 'run' && !expected) continue;
          const leave = deferred<void>();
          let holding: Holding | undefined;
          const enter = (): void => {
            const end = begin(admission, one.kind, () => {
              // A run of a capture's own is a part of it, and takes no place.
              const isPart = one.kind === 'run' && held.some(({ kind }) => kind === 'capture');
              holding = {
                kind: one.kind,
                owner: parent && parent.kind === one.kind ? parent.owner : {},
                leave,
                inside: AsyncResource.bind((fn: () => void) => fn()),
              };
              if (isPart) leave.resolve();
              else held.push(holding);
              return leave.promise;
            });
            ends.push(end.catch((error: unknown) => expect(codeOf(error)).toBe('capture_busy')));
          };
          if (parent) parent.inside(enter);
          else enter();
          await flush(12);
          expect(holding !== undefined).toBe(expected);
        }
        for (const { leave } of held) leave.resolve();
        await Promise.all(ends);
        expect(admission.state).toEqual({
          captureCount: 0,
          captureOwner: undefined,
          backgroundCount: 0,
          mutationCount: 0,
          mutationOwner: undefined,
          ordinaryCount: 0,
        });
        await admission.capture(() => undefined);
      }),
      { numRuns: 80 },
    );
  },
);

type BackgroundStep =
  | { readonly do: 'launch' | 'shutdown' }
  | { readonly do: 'start' | 'run' | 'stop' | 'kill'; readonly pick: number; readonly ok: boolean }
  | { readonly do: 'interrupt'; readonly pick: number };

const pick = fc.nat({ max: 5 });
const backgroundStep: fc.Arbitrary<BackgroundStep> = fc.oneof(
  { weight: 5, arbitrary: fc.constant<BackgroundStep>({ do: 'launch' }) },
  {
    weight: 9,
    arbitrary: fc.record({
      do: fc.constantFrom('start' as const, 'run' as const, 'stop' as const, 'kill' as const),
      pick,
      ok: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('interrupt' as const), pick }) },
  { weight: 1, arbitrary: fc.constant<BackgroundStep>({ do: 'shutdown' }) },
);

it(
  'background runs: slots and leases never leak, and each kernel is shut down once',
  { timeout: 30_000 },
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(backgroundStep, { maxLength: 40 }), async (steps) => {
        const starts: Deferred<BackgroundKernel>[] = [];
        const kernels: FakeBackgroundKernel[] = [];
        const running: FakeBackgroundKernel[] = [];
        const stopping: Deferred<void>[] = [];
        const killing: Deferred<void>[] = [];
        const waiting: Promise<unknown>[] = [];
        let leases = 0;
        const runs = createBackgroundRuns({
          maxRunning: 3,
          enterLease: () => {
            leases++;
            return { release: () => void leases-- };
          },
          startKernel: () => {
            const start = deferred<BackgroundKernel>();
            starts.push(start);
            return start.promise;
          },
        });
        const arrive = (start: Deferred<BackgroundKernel>): void => {
          const kernel = new FakeBackgroundKernel();
          // One that is called off before it is sent has nobody who waits for it.
          kernel.outcome.promise.catch(() => undefined);
          const answerOf = (answers: Deferred<void>[]) => () => {
            const answer = deferred<void>();
            answers.push(answer);
            return answer.promise;
          };
          kernel.onShutdown = answerOf(stopping);
          kernel.onKill = answerOf(killing);
          kernels.push(kernel);
          running.push(kernel);
          start.resolve(kernel);
        };
        const take = <T>(from: T[], at: number): T | undefined =>
          from.splice(at % Math.max(1, from.length), 1)[0];
        const settled = (promise: Promise<unknown>): void =>
          void waiting.push(promise.catch(() => undefined));
        const end = (answer: Deferred<void> | undefined, ok: boolean): void =>
          ok ? answer?.resolve() : answer?.reject(new Error('not confirmed'));
        for (const one of steps) {
          switch (one.do) {
            case 'launch':
              settled(runs.launch('x'));
              break;
            case 'shutdown':
              settled(runs.shutdown({ timeoutPerRunMs: 0 }));
              await new Promise((resolve) => setTimeout(resolve, 3));
              break;
            case 'interrupt': {
              const known = runs.list();
              const run = known[one.pick % Math.max(1, known.length)];
              // Its wait of 5 s is for the tests of its own.
              if (run) void runs.interrupt(run.executionId);
              break;
            }
            case 'start': {
              const start = take(starts, one.pick);
              if (start && one.ok) arrive(start);
              else start?.reject(new Error('no kernel'));
              break;
            }
            case 'run': {
              const kernel = take(running, one.pick);
              if (one.ok) kernel?.outcome.resolve({});
              else kernel?.outcome.reject(new Error('lost'));
              break;
            }
            case 'stop':
              end(take(stopping, one.pick), one.ok);
              break;
            case 'kill':
              end(take(killing, one.pick), one.ok);
              break;
          }
          await flush();
          const open = runs.list().filter(({ done }) => !done).length;
          expect(open).toBeLessThanOrEqual(3);
          expect(leases).toBeLessThanOrEqual(3);
          expect(leases).toBeGreaterThanOrEqual(open === 0 ? 0 : 1);
          for (const run of runs.list()) {
            expect(run.done).toBe(run.status !== 'running');
            expect(run.done).toBe(run.endedAt !== undefined);
          }
        }
        for (let round = 0; round < 4; round++) {
          starts.splice(0).forEach(arrive);
          running.splice(0).forEach((kernel) => kernel.outcome.resolve({}));
          killing.splice(0).forEach((answer) => answer.resolve());
          stopping.splice(0).forEach((answer) => answer.resolve());
          await flush();
        }
        await Promise.all(waiting);
        expect(leases).toBe(0);
        expect(runs.list().every(({ done }) => done)).toBe(true);
        for (const { shutdowns } of kernels) expect(shutdowns).toBe(1);
      }),
      { numRuns: 80 },
    );
  },
);
