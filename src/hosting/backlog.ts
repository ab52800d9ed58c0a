import type { KernelOutput } from '../kernel/output';
import type { HistoryEntry } from '../protocol/vocabulary';

/** Output of the latest run of a kernel that was taken up, until somebody takes that up too. */
export class Backlog {
  private execution: string | undefined;
  private outputs: KernelOutput[] = [];

  /** Of what the history told of this kernel. */
  fill(kernel: string, entries: readonly HistoryEntry[]): void {
    const own = entries.filter((entry) => entry.kernel === kernel);
    const latest = own.findLast(({ what }) => what === 'begun')?.execution ?? undefined;
    this.execution = latest;
    this.outputs = own.flatMap((entry) =>
      entry.what === 'output' && entry.execution === latest ? [entry.output] : [],
    );
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

  /** What was kept of a run; from now on nothing more is. */
  take(execution: string): readonly KernelOutput[] {
    const outputs = this.execution === execution ? this.outputs : [];
    this.execution = undefined;
    this.outputs = [];
    return outputs;
  }
}
