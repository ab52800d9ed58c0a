import { messageOf } from '../base/errors';
import type { Log } from '../base/log';
import { within } from '../runner/within';

// Less than the second that an editor may be kept waiting, as a timer on a busy machine comes late.
const LEAVE_WITHIN_MS = 900;

interface Leaving {
  /** Hands on what is not recorded yet: runs that go on, and records that wait for a chat. */
  handOn(): void;
  /** Writes what was recorded. */
  flushRecords(): Promise<void>;
  /** Says goodbye to the kernel host, which stops things in its own time. */
  leaveHost(): Promise<void>;
  readonly log: Pick<Log, 'warn'>;
}

/** Resolves when the records are written and the goodbye is said, but within a second however slow either is. */
export async function leave({ handOn, flushRecords, leaveHost, log }: Leaving): Promise<void> {
  const warn = (error: unknown): void =>
    log.warn(`Not all was said on leaving: ${messageOf(error)}`);
  // Whatever fails, the kernel host has to know.
  try {
    handOn();
  } catch (error) {
    warn(error);
  }
  // Side by side: a disk that hangs must not keep it from that.
  const steps = [flushRecords(), leaveHost()].map((step) => step.catch(warn));
  await within(Promise.all(steps), LEAVE_WITHIN_MS);
}
