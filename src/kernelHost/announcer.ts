import { messageOf } from '../base/errors';
import type { Log } from '../base/log';
import { writeHostFile, type HostFile } from '../protocol/hostFile';

/** Keeps the host's announcement up to date: the latest wins, and no two are written at a time. */
export class Announcer {
  private wanted: HostFile | undefined;
  private writing: Promise<void> | undefined;
  private stopped = false;

  constructor(
    private readonly folder: string,
    private readonly log: Log,
  ) {}

  /** Resolves when it, or a later one, is there. */
  announce(content: HostFile): Promise<void> {
    if (this.stopped) return Promise.resolve();
    this.wanted = content;
    this.writing ??= this.write();
    return this.writing;
  }

  /** Resolves when nothing is written any more. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.wanted = undefined;
    await this.writing;
  }

  private async write(): Promise<void> {
    while (this.wanted !== undefined) {
      const content = this.wanted;
      this.wanted = undefined;
      try {
        await writeHostFile(this.folder, content);
      } catch (error) {
        // Then another window does not find it, and it leaves when its time is over.
        this.log.warn(`Not announced: ${messageOf(error)}`);
      }
    }
    // In the same step as the last look: what is wanted from now on begins another one.
    this.writing = undefined;
  }
}
