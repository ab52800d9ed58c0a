import { describe, expect, it } from 'vitest';
import { deferred } from '../../../src/base/deferred';
import { createAdmission, type Admission } from '../../../src/runner/admission';
import { admitted } from '../../../src/runner/admitted';
import type { ExecuteOptions } from '../../../src/runner/runner';
import { resultOf } from '../../support/executionResult';
import { flush } from '../../support/manualClock';
import { watch } from '../../support/poolHarness';

const busy = { code: 'capture_busy' };
const unavailable = { code: 'capture_unavailable' };
const on = (): Admission => createAdmission({ captureEnabled: true });
const one = (): number => 1;

/** A lease of one class, held until it is let go of. */
function hold(
  admission: Admission,
  leaseClass: 'capture' | 'externalMutation',
): () => Promise<void> {
  const over = deferred<void>();
  const held = admission[leaseClass](() => over.promise);
  return () => {
    over.resolve();
    return held;
  };
}

describe('D2: classes', () => {
  it('answers what the function answers, and rejects with what it throws', async () => {
    expect(await on().capture(one)).toBe(1);
    expect(await on().externalMutation(() => Promise.resolve(2))).toBe(2);
    const admission = on();
    const error = new Error('its own');
    await expect(
      admission.capture(() => {
        throw error;
      }),
    ).rejects.toBe(error);
    await (await admission.background()).release();
  });

  it('capture and mutation have one owner each', async () => {
    for (const leaseClass of ['capture', 'externalMutation'] as const) {
      const admission = on();
      const letGo = hold(admission, leaseClass);
      await expect(admission[leaseClass](one)).rejects.toMatchObject(busy);
      await letGo();
      expect(await admission[leaseClass](one)).toBe(1);
    }
  });

  it('background leases are many at once', async () => {
    const admission = on();
    const leases = [await admission.background(), await admission.background()];
    await leases[0]!.release();
    await expect(admission.capture(one)).rejects.toMatchObject(busy);
    await leases[1]!.release();
    expect(await admission.capture(one)).toBe(1);
  });

  it('D3: mutation inside mutation is admitted; capture or background inside mutation is refused', async () => {
    const admission = on();
    await admission.externalMutation(async () => {
      expect(await admission.externalMutation(one)).toBe(1);
      await expect(admission.capture(one)).rejects.toMatchObject(busy);
      await expect(admission.background()).rejects.toMatchObject(busy);
    });
  });

  it('D3: and the reverse: capture nests; mutation or background inside capture is refused', async () => {
    const admission = on();
    await admission.capture(async () => {
      expect(await admission.capture(one)).toBe(1);
      await expect(admission.externalMutation(one)).rejects.toMatchObject(busy);
      await expect(admission.background()).rejects.toMatchObject(busy);
    });
  });

  it('beside a background run neither capture nor mutation is admitted', async () => {
    const admission = on();
    const lease = await admission.background();
    await expect(admission.capture(one)).rejects.toMatchObject(busy);
    await expect(admission.externalMutation(one)).rejects.toMatchObject(busy);
    await lease.release();
    expect(await admission.externalMutation(one)).toBe(1);
  });

  it('with capture off, captures are free, while background and mutation still exclude each other', async () => {
    const admission = createAdmission({ captureEnabled: false });
    const lease = await admission.background();
    expect(await admission.capture(() => admission.capture(one))).toBe(1);
    await expect(admission.externalMutation(one)).rejects.toMatchObject(busy);
    await lease.release();
    await admission.externalMutation(async () => {
      expect(await admission.capture(one)).toBe(1);
      await expect(admission.background()).rejects.toMatchObject(busy);
    });
    await admission.capture(async () => (await admission.background()).release());
  });
});

describe('D2: the owner', () => {
  it('is carried through async calls', async () => {
    const admission = on();
    const nested = await admission.capture(async () => {
      await Promise.resolve();
      return new Promise<number>((resolve, reject) => {
        setImmediate(() => void admission.capture(one).then(resolve, reject));
      });
    });
    expect(nested).toBe(1);
  });

  it('keeps the lease while something nested holds it, after the outer one is over', async () => {
    const admission = on();
    const over = deferred<void>();
    let nested: Promise<void> | undefined;
    await admission.capture(() => {
      nested = admission.capture(() => over.promise);
    });
    await expect(admission.background()).rejects.toMatchObject(busy);
    over.resolve();
    await nested;
    await (await admission.background()).release();
  });

  it('with a stale token is a new one', async () => {
    const admission = on();
    const later = deferred<void>();
    let leftBehind: Promise<number> | undefined;
    await admission.capture(() => {
      leftBehind = later.promise.then(() => admission.capture(one));
    });
    const letGo = hold(admission, 'capture');
    const refused = watch(leftBehind!);
    later.resolve();
    await expect(refused.promise).rejects.toMatchObject(busy);
    await letGo();
    expect(await admission.capture(one)).toBe(1);
  });

  it('a second release is a silent no-op', async () => {
    const admission = on();
    const [first, second] = [await admission.background(), await admission.background()];
    await first.release();
    expect(first.release()).toBeUndefined();
    await expect(admission.capture(one)).rejects.toMatchObject(busy);
    await second.release();
    await second.release();
    expect(await admission.capture(one)).toBe(1);
  });
});

describe('D2: impossible state', () => {
  const corruptions: [string, (state: Admission['state']) => void][] = [
    ['a negative count', (state) => (state.captureCount = -1)],
    ['no number', (state) => (state.backgroundCount = NaN)],
    ['half a lease', (state) => (state.captureCount = 1.5)],
    ['a count without owner', (state) => (state.captureOwner = undefined)],
    ['an owner without count', (state) => (state.mutationOwner = Symbol('who'))],
    ['two classes at once', (state) => (state.backgroundCount = 1)],
    ['another owner', (state) => (state.captureOwner = Symbol('another'))],
    ['a lease that nobody has', (state) => (state.captureCount = 7)],
    ['a run beside the capture', (state) => (state.ordinaryCount = 1)],
    ['nothing held', (state) => ((state.captureCount = 0), (state.captureOwner = undefined))],
  ];

  it.each(corruptions)(
    'D3: counts corrupted inside a lease (%s) while an error is thrown: that error surfaces, then all is unavailable',
    async (_, corrupt) => {
      const logged: string[] = [];
      const admission = createAdmission({
        captureEnabled: true,
        log: { error: (text) => void logged.push(text) },
      });
      const error = new Error('the run failed');
      await expect(
        admission.capture(() => {
          corrupt(admission.state);
          throw error;
        }),
      ).rejects.toBe(error);
      for (let i = 0; i < 2; i++) {
        await expect(admission.capture(one)).rejects.toMatchObject(unavailable);
        await expect(admission.externalMutation(one)).rejects.toMatchObject(unavailable);
        await expect(admission.background()).rejects.toMatchObject(unavailable);
      }
      expect(logged).toHaveLength(1);
    },
  );

  it('is for good, though the counts look well again', async () => {
    const admission = on();
    const lease = await admission.background();
    admission.state.backgroundCount = -1;
    await expect(admission.background()).rejects.toMatchObject(unavailable);
    admission.state.backgroundCount = 1;
    expect(() => void lease.release()).not.toThrow();
    await expect(admission.background()).rejects.toMatchObject(unavailable);
  });

  it('lets ordinary runs go on, also those that waited', async () => {
    const admission = on();
    const letGo = hold(admission, 'capture');
    const waiting = watch(admission.ordinaryRun(one));
    await flush();
    expect(waiting.state).toBe('pending');
    admission.state.captureCount = -1;
    await expect(admission.background()).rejects.toMatchObject(unavailable);
    expect(await waiting.promise).toBe(1);
    expect(await admission.ordinaryRun(one)).toBe(1);
    await letGo();
  });
});

describe('D2: ordinary runs', () => {
  it('keep a capture from beginning while one is active', async () => {
    const admission = on();
    const over = deferred<void>();
    const run = admission.ordinaryRun(() => over.promise);
    await flush();
    await expect(admission.capture(one)).rejects.toMatchObject(busy);
    await (await admission.background()).release();
    over.resolve();
    await run;
    expect(await admission.capture(one)).toBe(1);
  });

  it('wait for a capture, in order, and then come before the next one', async () => {
    const admission = on();
    const letGo = hold(admission, 'capture');
    const order: string[] = [];
    const runs = ['a', 'b'].map((name) => admission.ordinaryRun(() => void order.push(name)));
    await flush();
    expect(order).toEqual([]);
    const over = letGo();
    const next = over.then(() => admission.capture(one));
    await expect(next).rejects.toMatchObject(busy);
    await Promise.all(runs);
    expect(order).toEqual(['a', 'b']);
    expect(await admission.capture(one)).toBe(1);
  });

  it('that are the capture’s own go on at once', async () => {
    const admission = on();
    expect(await admission.capture(() => admission.ordinaryRun(one))).toBe(1);
  });

  it('that are aborted while they wait reject with the reason, and leave nothing', async () => {
    const admission = on();
    const letGo = hold(admission, 'capture');
    const controller = new AbortController();
    const run = watch(admission.ordinaryRun(one, { signal: controller.signal }));
    await flush();
    controller.abort(new Error('stop'));
    await expect(run.promise).rejects.toThrow('stop');
    await letGo();
    expect(await admission.capture(one)).toBe(1);
    expect(admission.state.ordinaryCount).toBe(0);
  });

  it('that are aborted in the moment of their turn give their place back', async () => {
    const admission = on();
    const over = deferred<void>();
    const controller = new AbortController();
    const capture = admission.capture(() => over.promise).then(() => controller.abort());
    const run = watch(admission.ordinaryRun(one, { signal: controller.signal }));
    over.resolve();
    await capture;
    await run.promise.catch(() => undefined);
    expect(admission.state.ordinaryCount).toBe(0);
    expect(await admission.capture(one)).toBe(1);
  });

  it('of the door that are aborted while they wait are cancelled, and never sent', async () => {
    const admission = on();
    const letGo = hold(admission, 'capture');
    const sent: string[] = [];
    const execute = admitted(admission, (code) => {
      sent.push(code);
      return code === 'bad' ? Promise.reject(new Error('no kernel')) : Promise.resolve(resultOf());
    });
    const controller = new AbortController();
    const options = { signal: controller.signal } as ExecuteOptions;
    const run = execute('x', options);
    controller.abort();
    expect(await run).toMatchObject({ cancelled: true, exitCode: undefined, output: '' });
    await letGo();
    const open = { signal: new AbortController().signal } as ExecuteOptions;
    expect(await execute('y', open)).toEqual(resultOf());
    await expect(execute('bad', open)).rejects.toThrow('no kernel');
    expect(sent).toEqual(['y', 'bad']);
  });
});
