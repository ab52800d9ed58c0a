/**
 * Data of one display by MIME type, as in Jupyter's messaging protocol: text types and `+json`/`json` types as they
 * are, binary types (image/png, …) as base64 text.
 */
export type MimeBundle = Readonly<Record<string, unknown>>;

export type StreamName = 'stdout' | 'stderr';

/** Of what a kernel hands out, in which a bare string is stdout text. */
export function asOutput(output: KernelOutput | string): KernelOutput {
  return typeof output === 'string' ? { type: 'stream', name: 'stdout', text: output } : output;
}

/** One piece of what a run puts out, in the order of emission. */
export type KernelOutput =
  | { readonly type: 'stream'; readonly name: StreamName; readonly text: string }
  | {
      readonly type: 'display';
      readonly data: MimeBundle;
      readonly metadata?: MimeBundle;
      /** With an id a later `updateDisplay` replaces the data in place. */
      readonly displayId?: string;
    }
  | {
      readonly type: 'updateDisplay';
      readonly displayId: string;
      readonly data: MimeBundle;
      readonly metadata?: MimeBundle;
    }
  /** The value of the last expression. */
  | { readonly type: 'result'; readonly data: MimeBundle; readonly metadata?: MimeBundle }
  | {
      readonly type: 'error';
      readonly name: string;
      readonly value: string;
      /** The whole traceback, ready to be shown. May carry ANSI colours. */
      readonly traceback: string;
    }
  /** Forget the outputs so far: at once, or (`wait`) when the next one comes. */
  | { readonly type: 'clear'; readonly wait: boolean }
  /**
   * Stream text that was left out on the way because nobody could take it in time. Its size still counts: `lines` is
   * the number of line ends in it, `bytes` its length in UTF-8.
   */
  | { readonly type: 'gap'; readonly lines: number; readonly bytes: number };
