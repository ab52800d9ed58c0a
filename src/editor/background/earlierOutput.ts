import type { ExecutionReply } from '../../kernel/execution';
import type { KernelOutput } from '../../kernel/output';
import { headTextOf } from '../../runner/backgroundEnd';
import { HeadBuffer } from '../../runner/headBuffer';
import type { PastEvent } from '../reload/replay';

/** What the kernel host has told of one run. */
export interface PastRun {
  readonly outputs: readonly KernelOutput[];
  /** Of the kernel, and of its prelude. */
  readonly loose: readonly KernelOutput[];
  readonly startedAt: number | undefined;
  readonly reply: ExecutionReply | undefined;
}

export function pastRunOf(executionId: string, events: readonly PastEvent[]): PastRun {
  const own = events.filter((event) => event.execution === executionId);
  const outputsOf = (of: readonly PastEvent[]): KernelOutput[] =>
    of.flatMap((event) => (event.what === 'output' ? [event.output] : []));
  return {
    outputs: outputsOf(own),
    loose: outputsOf(events.filter((event) => event.execution !== executionId)).filter(
      ({ type }) => type !== 'result',
    ),
    startedAt: own.find((event) => event.what === 'begun')?.at,
    reply: own.find((event) => event.what === 'finished')?.reply,
  };
}

/** The bytes of text that are missing before the first output. */
export function missingBytes([first]: readonly KernelOutput[]): number {
  return first?.type === 'gap' ? first.bytes : 0;
}

/**
 * Puts the head of the output, as it was kept elsewhere, in the place of the gap that the outputs begin with. The rest of
 * the gap stays one, so that whoever counts bytes comes to the same.
 */
export function withHead(head: string): (output: KernelOutput) => readonly KernelOutput[] {
  let isFirst = true;
  return (output) => {
    const isGap = isFirst && output.type === 'gap' && head !== '';
    isFirst = false;
    if (!isGap) return [output];
    const bytes = output.bytes - Buffer.byteLength(head);
    const lines = output.lines - (head.match(/\n/g)?.length ?? 0);
    const text: KernelOutput = { type: 'stream', name: 'stdout', text: head };
    return bytes <= 0 ? [text] : [text, { type: 'gap', bytes, lines: Math.max(0, lines) }];
  };
}

/** The head of a run that is over, of what was told of it. */
export function headTextOfAll(outputs: readonly KernelOutput[]): string {
  const head = new HeadBuffer();
  for (const output of outputs) head.add(headTextOf(output));
  head.close();
  return head.text;
}
