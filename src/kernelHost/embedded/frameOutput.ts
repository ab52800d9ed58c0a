import type { KernelOutput } from '../../kernel/output';
import type { RunnerFrame } from './frames';

type OutputFrame = Exclude<RunnerFrame, { op: 'ready' | 'begun' | 'input' | 'done' | 'pong' }>;

/** A runner's frame in the kernel vocabulary. */
export function toOutput(frame: OutputFrame): KernelOutput {
  switch (frame.op) {
    case 'stream':
      return { type: 'stream', name: frame.name, text: frame.text };
    case 'display': {
      const { data, metadata, displayId } = frame;
      if (displayId === undefined) return { type: 'display', data, metadata };
      const type = frame.update === true ? 'updateDisplay' : 'display';
      return { type, data, metadata, displayId };
    }
    case 'result':
      return { type: 'result', data: frame.data, metadata: frame.metadata };
    case 'error': {
      const { name, value, traceback } = frame;
      return { type: 'error', name, value, traceback };
    }
    case 'clear':
      return { type: 'clear', wait: frame.wait };
  }
}
