import type { Log } from '../base/log';
import type { KernelOutput } from '../kernel/output';
import type { OutputArtifact } from './backgroundTypes';

/** Writes to an artifact until that fails; then it does without, says so in the log, and names no path any more. */
export class ArtifactSink {
  private artifact: OutputArtifact | undefined;

  constructor(
    open: () => OutputArtifact | undefined,
    private readonly log: Pick<Log, 'error'> | undefined,
  ) {
    this.attempt(() => (this.artifact = open()));
  }

  get path(): string | undefined {
    return this.artifact?.path;
  }

  write(output: KernelOutput | string): void {
    const { artifact } = this;
    if (artifact) this.attempt(() => artifact.write(output));
  }

  async close(): Promise<void> {
    try {
      await this.artifact?.close();
    } catch (error) {
      this.giveUp(error);
    }
  }

  private attempt(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.giveUp(error);
    }
  }

  private giveUp(error: unknown): void {
    this.artifact = undefined;
    this.log?.error('The output of a background run could not be kept on disk.', error);
  }
}
