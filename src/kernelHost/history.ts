import type { CodeSource, ExecutionReply } from '../kernel/execution';
import type { KernelOutput } from '../kernel/output';
import type { HistoryEntry } from '../protocol/vocabulary';
import { leaveOutDisplays, leaveOutText, sizeOf, type OutputItem } from './outputSize';

type Begun = Extract<HistoryEntry, { what: 'begun' }>;
type Finished = Extract<HistoryEntry, { what: 'finished' }>;
type Output = OutputItem & { readonly n: number; readonly kernel: string };

/** Sizes in characters. What is beyond goes from the oldest on: text as a counted gap, displays as a note, runs whole. */
export interface HistoryLimits {
  readonly text: number;
  readonly displays: number;
  readonly code: number;
  readonly runs: number;
  /** Text pieces are joined up to this size. */
  readonly piece: number;
}

const MEBI = 1024 * 1024;

const HISTORY_LIMITS: HistoryLimits = {
  text: 2 * MEBI,
  displays: 16 * MEBI,
  code: MEBI,
  runs: 300,
  piece: 64 * 1024,
};

const NOTE = 'Left out: it was too large to be kept over a reload of the window.';

/** What a window that comes back has to know of a session: kept whether anybody is attached or not, in bounds. */
export class History {
  /** By execution, oldest first. */
  private readonly runs = new Map<string, { readonly begun: Begun; finished?: Finished }>();
  private outputs: Output[] = [];
  private text = 0;
  private displays = 0;
  private code = 0;
  private n = 0;
  private toldUpTo = 0;

  constructor(private readonly limits: HistoryLimits = HISTORY_LIMITS) {}

  begun(
    kernel: string,
    run: { readonly executionId: string; readonly code: string; readonly source?: CodeSource },
    at: number,
  ): void {
    const { executionId: execution, code, source } = run;
    const rest = source === undefined ? {} : { source };
    const begun = { n: ++this.n, kernel, what: 'begun' as const, execution, at, code, ...rest };
    this.runs.set(execution, { begun });
    this.code += code.length;
    this.forgetRuns();
  }

  finished(kernel: string, execution: string, reply: ExecutionReply, at: number): void {
    const run = this.runs.get(execution);
    if (run) run.finished = { n: ++this.n, kernel, what: 'finished', execution, at, reply };
  }

  push(kernel: string, execution: string | null, output: KernelOutput): void {
    if (!this.joinLast(kernel, execution, output)) {
      this.outputs.push({ n: ++this.n, kernel, execution, output });
    }
    if (output.type === 'stream') this.text += output.text.length;
    else this.displays += sizeOf(output);
    this.shrink();
  }

  /** In order: what came after number `after`; only of one kernel, where named. */
  read(after = 0, kernel?: string): HistoryEntry[] {
    this.toldUpTo = this.n;
    const outputs = this.outputs.map((output): HistoryEntry => ({ ...output, what: 'output' }));
    const markers = [...this.runs.values()].flatMap(({ begun, finished }) => [
      begun,
      ...(finished ? [finished] : []),
    ]);
    return [...markers, ...outputs]
      .filter((entry) => entry.n > after && (kernel === undefined || entry.kernel === kernel))
      .sort((a, b) => a.n - b.n);
  }

  private joinLast(kernel: string, execution: string | null, output: KernelOutput): boolean {
    const last = this.outputs.at(-1);
    // A number that was told must not come to stand for more than it did.
    if (
      last?.n !== this.n ||
      last.n <= this.toldUpTo ||
      last.kernel !== kernel ||
      last.execution !== execution
    )
      return false;
    if (output.type !== 'stream' || last.output.type !== 'stream') return false;
    if (last.output.name !== output.name) return false;
    if (last.output.text.length + output.text.length > this.limits.piece) return false;
    const joined = { ...output, text: last.output.text + output.text };
    this.outputs[this.outputs.length - 1] = { ...last, n: ++this.n, output: joined };
    return true;
  }

  private shrink(): void {
    if (this.text > this.limits.text) {
      // Half of it at once, so that a flood pays for a pass over the list only now and then.
      this.outputs = leaveOutText(this.outputs, this.text - this.limits.text / 2);
      this.recount();
    }
    if (this.displays > this.limits.displays) {
      const size = this.displays - this.limits.displays / 2;
      this.outputs = leaveOutDisplays(this.outputs, size, NOTE);
      this.recount();
    }
  }

  private recount(): void {
    this.text = 0;
    this.displays = 0;
    for (const { output } of this.outputs) {
      if (output.type === 'stream') this.text += output.text.length;
      else this.displays += sizeOf(output);
    }
  }

  /** The oldest that are over go, with their output, when they are too many or their code is too long. */
  private forgetRuns(): void {
    const forgotten = new Set<string | null>();
    for (const [execution, { begun, finished }] of this.runs) {
      if (this.runs.size <= this.limits.runs && this.code <= this.limits.code) break;
      if (!finished) continue;
      this.runs.delete(execution);
      this.code -= begun.code.length;
      forgotten.add(execution);
    }
    if (forgotten.size === 0) return;
    this.outputs = this.outputs.filter(({ execution }) => !forgotten.has(execution));
    this.recount();
  }
}
