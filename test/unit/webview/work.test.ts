import { beforeEach, describe, expect, it } from 'vitest';
import { FrameWork } from '../../../src/webview/work';

let frames: (() => void)[];

beforeEach(() => {
  frames = [];
});

/** Runs the frames that are asked for, and those that they ask for. Answers how many there were. */
function drawAll(): number {
  let count = 0;
  for (let frame = frames.shift(); frame !== undefined; frame = frames.shift()) {
    frame();
    count += 1;
  }
  return count;
}

function* job(done: string[], name: string, throwAt?: number): Generator<void> {
  for (let step = 0; step < 3; step++) {
    if (step === throwAt) throw new Error(`${name} ${step}`);
    done.push(`${name} ${step}`);
    yield;
  }
}

const nothing = (): void => undefined;

const frameWork = (onFailure: (error: unknown) => void = nothing): FrameWork =>
  new FrameWork((frame) => frames.push(frame), nothing, onFailure);

describe('work that is spread over frames', () => {
  it('is done in order, and asks for no frame more than it needs', () => {
    const done: string[] = [];
    const work = frameWork();
    work.add(job(done, 'a'));
    work.add(job(done, 'b'));
    expect(frames).toHaveLength(1);
    drawAll();
    expect(done).toEqual(['a 0', 'a 1', 'a 2', 'b 0', 'b 1', 'b 2']);
  });

  it('goes on after a job that throws, now and later', () => {
    const done: string[] = [];
    const failures: unknown[] = [];
    const work = frameWork((error) => failures.push(error));
    work.add(job(done, 'a', 1));
    work.add(job(done, 'b'));
    drawAll();
    work.add(job(done, 'c'));
    drawAll();
    expect(done).toEqual(['a 0', 'b 0', 'b 1', 'b 2', 'c 0', 'c 1', 'c 2']);
    expect(failures).toMatchObject([{ message: 'a 1' }]);
  });

  it('goes on after a drawing that throws', () => {
    const failures: unknown[] = [];
    const drawn: string[] = [];
    const work = frameWork((error) => failures.push(error));
    work.markDirty({
      draw: () => {
        throw new Error('no');
      },
    });
    work.markDirty({ draw: () => drawn.push('other') });
    expect(drawAll()).toBe(1);
    work.markDirty({ draw: () => drawn.push('later') });
    expect(drawAll()).toBe(1);
    expect(drawn).toEqual(['other', 'later']);
    expect(failures).toMatchObject([{ message: 'no' }]);
  });

  it('goes on even when nobody can be told', () => {
    const done: string[] = [];
    const work = frameWork(() => {
      throw new Error('nobody');
    });
    work.add(job(done, 'a', 0));
    work.add(job(done, 'b'));
    expect(drawAll).toThrow('nobody');
    drawAll();
    expect(done).toContain('b 2');
  });
});
