import type { ExecutionReply } from '../kernel/execution';
import type { KernelOutput } from '../kernel/output';
import type { HistoryEntry } from '../protocol/vocabulary';

/** What is known of the latest run of a kernel that was taken up, until somebody takes that up too. */
export class Backlog {
  private execution: string | undefined;
  private outputs: KernelOutput[] = [];
  private reply: ExecutionReply | undefined;

  /** Of what the history told of this kernel. */
  fill(kernel: string, entries: readonly HistoryEntry[]): void {
    const own = entries.filter((entry) => entry.kernel === kernel);
    const latest = own.findLast(({ what }) => what === 'begun')?.execution ?? undefined;
    this.execution = latest;
    this.outputs = own.flatMap((entry) =>
      entry.what === 'output' && entry.execution === latest ? [entry.output] : [],
    );
    const end = own.find(({ what, execution }) => what === 'finished' && execution === latest);
    this.reply = end?.what === 'finished' ? end.reply : undefined;
  }

  isOf(execution: string): boolean {
    return this.execution === execution;
  }

  /** Answers whether it keeps it. */
  push(execution: string | null, output: KernelOutput): boolean {
    if (this.execution === undefined || execution !== this.execution) return false;
    this.outputs.push(output);
    return true;
  }

  /** What was kept of a run, and its end where that was known already; from now on nothing more is. */
  take(execution: string): {
    readonly outputs: readonly KernelOutput[];
    readonly reply: ExecutionReply | undefined;
  } {
    const isKept = this.execution === execution;
    const { outputs, reply } = this;
    this.execution = undefined;
    this.outputs = [];
    this.reply = undefined;
    return isKept ? { outputs, reply } : { outputs: [], reply: undefined };
  }
}
