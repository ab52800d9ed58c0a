import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  encodeControlFrame,
  FrameDecoder,
  maxFrameBytes,
  parseRunnerFrame,
  type RunnerFrame,
} from '../../src/kernelHost/embedded/frames';

/** As a runner writes it: JSON in ASCII. */
function encode(frame: unknown): Buffer {
  const json = JSON.stringify(frame).replace(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  const header = Buffer.alloc(4);
  header.writeUInt32BE(json.length);
  return Buffer.concat([header, Buffer.from(json, 'latin1')]);
}

const stream = (text: string): RunnerFrame => ({ op: 'stream', run: 'r1', name: 'stdout', text });

describe('frames of an embedded runner', () => {
  it('come out whole and in order however the bytes are split', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'binary', maxLength: 50 }), { maxLength: 8 }),
        fc.array(fc.nat(40), { minLength: 1, maxLength: 20 }),
        (texts, sizes) => {
          const frames = texts.map(stream);
          const bytes = Buffer.concat(frames.map(encode));
          const decoder = new FrameDecoder();
          const heard: RunnerFrame[] = [];
          for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
            const size = (sizes[turn % sizes.length] ?? 0) + 1;
            heard.push(...decoder.push(bytes.subarray(at, at + size)));
            at += size;
          }
          expect(heard).toEqual(frames);
          expect(decoder.pendingBytes).toBe(0);
        },
      ),
    );
  });

  it('keep lone surrogates', () => {
    expect(new FrameDecoder().push(encode(stream('\ud83d \udc80 😀')))).toEqual([
      stream('\ud83d \udc80 😀'),
    ]);
  });

  it('a frame of many chunks costs no more than its length', () => {
    const bytes = encode(stream('x'.repeat(8_000_000)));
    const decoder = new FrameDecoder();
    const started = process.cpuUsage();
    let heard = 0;
    for (let at = 0; at < bytes.length; at += 1024) {
      heard += decoder.push(bytes.subarray(at, at + 1024)).length;
    }
    const used = process.cpuUsage(started);
    expect(heard).toBe(1);
    expect((used.user + used.system) / 1000).toBeLessThan(2000);
  });

  it('a cut stream tells what is pending', () => {
    const decoder = new FrameDecoder();
    decoder.push(encode(stream('text')).subarray(0, 10));
    expect(decoder.pendingBytes).toBe(10);
  });

  it('a length over the limit is refused before its bytes come', () => {
    const decoder = new FrameDecoder();
    const header = Buffer.alloc(4);
    header.writeUInt32BE(maxFrameBytes + 1);
    expect(() => decoder.push(header)).toThrow(/a length of 67108865 bytes is over the limit/);
    // No boundary can be found again.
    expect(() => decoder.push(encode(stream('later')))).toThrow(/over the limit/);
  });

  it.each([
    ['{', /bad frame: not JSON .*: \{/],
    ['[]', /bad frame/],
    ['{"op":"nonsense"}', /op: .*"nonsense"/],
    ['{"op":"stream","run":1,"name":"stdout","text":""}', /run: .*received 1/],
    ['{"op":"stream","run":null,"name":"stdlog","text":""}', /name: .*"stdlog"/],
    ['{"op":"done","run":"r","status":"ok","interrupted":false}', /stdinRequested/],
    [`{"op":"stream","run":null,"name":"stdout","text":${'1'.repeat(500)}}`, /text: .{0,300}…\.$/],
  ])('an error names what was wrong: %j', (json, message) => {
    let thrown: unknown;
    try {
      parseRunnerFrame(json);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ code: 'protocol' });
    expect(String(thrown)).toMatch(message);
  });

  it('run is null for what belongs to the session', () => {
    expect(
      parseRunnerFrame('{"op":"stream","run":null,"name":"stderr","text":"late"}'),
    ).toMatchObject({ run: null });
  });
});

describe('frames to an embedded runner', () => {
  it('are a length and ASCII that gives the text back', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (code) => {
        const bytes = encodeControlFrame({ op: 'execute', id: 'r', code, stdin: true });
        expect(bytes.readUInt32BE(0)).toBe(bytes.length - 4);
        expect(bytes.subarray(4).every((byte) => byte < 0x80)).toBe(true);
        expect(JSON.parse(bytes.subarray(4).toString('latin1'))).toEqual({
          op: 'execute',
          id: 'r',
          code,
          stdin: true,
        });
      }),
    );
  });

  it('an end of file is null, not an empty line', () => {
    const bytes = encodeControlFrame({ op: 'input', id: 'r', text: null });
    expect(bytes.subarray(4).toString()).toBe('{"op":"input","id":"r","text":null}');
  });
});
