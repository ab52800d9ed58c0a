import { describe, expect, it } from 'vitest';
import { decodeReadOutput, decodeRunCode } from '../../../src/editor/agent/input';

const run = { code: 'x', language: 'Python ' };

describe('what a model passes', () => {
  it('is taken with its defaults: thirty seconds of wait, no limit, the own session', () => {
    expect(decodeRunCode(run)).toEqual({
      code: 'x',
      language: 'python',
      session: undefined,
      waitMs: 30_000,
      timeoutMs: undefined,
    });
    expect(decodeReadOutput({ handle: 'run_1' })).toEqual({
      handle: 'run_1',
      from: undefined,
      waitMs: 0,
    });
  });

  it('may be null where it may be left out, and seconds may have fractions', () => {
    const decoded = decodeRunCode({ ...run, session: null, waitSeconds: 0.5, timeoutSeconds: 1.5 });
    expect(decoded).toMatchObject({ session: undefined, waitMs: 500, timeoutMs: 1_500 });
    expect(decodeReadOutput({ handle: 'run_1', from: null, waitSeconds: null }).waitMs).toBe(0);
  });

  it.each<[unknown, RegExp]>([
    [undefined, /input must be an object.*"code", "language"/],
    [[], /"code" must be/],
    [{ language: 'python' }, /"code" must be a string.*Pass the code itself/],
    [{ ...run, code: ' \n ' }, /"code" must be/],
    [{ ...run, code: 7 }, /"code" must be/],
    [{ ...run, code: 'x'.repeat(50_001) }, /"code" is longer than the 50,000.*Run it in parts/],
    [{ code: 'x' }, /"language" must name.*such as "python"/],
    [{ ...run, session: '' }, /"session" must be.*Leave it out/],
    [{ ...run, waitSeconds: 'soon' }, /"waitSeconds" must be.*0 to 600.*Leave it out/],
    [{ ...run, waitSeconds: -1 }, /"waitSeconds"/],
    [{ ...run, waitSeconds: 601 }, /"waitSeconds"/],
    [{ ...run, waitSeconds: Number.NaN }, /"waitSeconds"/],
    [{ ...run, timeoutSeconds: 0 }, /"timeoutSeconds" must be.*above 0/],
    [{ ...run, timeout: 5 }, /There is no field "timeout".*"timeoutSeconds"/],
    [{ ...run, constructor: 5 }, /There is no field "constructor"/],
    [{ ...run, ownerId: 'window:1' }, /There is no field "ownerId"/],
  ])('as %j is refused, with the field and the next step', (input, message) => {
    expect(() => decodeRunCode(input)).toThrow(
      expect.objectContaining({ code: 'bad_input', message: expect.stringMatching(message) }),
    );
  });

  it('may be as long as a person can be asked about it', () => {
    const code = 'x'.repeat(50_000);
    expect(decodeRunCode({ ...run, code }).code).toBe(code);
  });

  it.each<[unknown, RegExp]>([
    [{}, /"handle" must be the handle.*holdfast_run_code/],
    [{ handle: 'run_1', from: 1.5 }, /"from" must be a whole number/],
    [{ handle: 'run_1', code: 'x' }, /There is no field "code"/],
  ])('to read %j is refused the same way', (input, message) => {
    expect(() => decodeReadOutput(input)).toThrow(message);
  });
});
