import type { Prompts } from '../prompts';
import { duration } from '../sessions/words';
import { KILLED } from '../../runner/backgroundEnd';
import type { BackgroundSnapshot } from '../../runner/backgroundTypes';
import type { BackgroundWork } from './backgroundWork';
import { labelOf } from './session';

interface BackgroundActionsParts {
  readonly work: Pick<BackgroundWork, 'peek' | 'interrupt' | 'kill' | 'remove'>;
  readonly prompts: Prompts;
}

/** What a person does to a background run. Rejections are the caller's to tell. */
export class BackgroundActions {
  constructor(private readonly parts: BackgroundActionsParts) {}

  /** Interrupts, and says what became of it where the run goes on: it may not have arrived, or not been heeded. */
  async interrupt(executionId: string): Promise<void> {
    const { work, prompts } = this.parts;
    const report = await work.interrupt(executionId);
    if (report.done) return;
    const label = labelOf(report.request);
    const [again, kill] = ['Interrupt Again', 'Kill'];
    const chosen = await prompts.warn(
      report.interruptUndelivered === undefined
        ? `The background run ${label} has not heeded the interrupt.`
        : `The interrupt did not reach the background run ${label}. ${report.interruptUndelivered}`,
      again,
      kill,
    );
    if (chosen === undefined || work.peek(executionId).done) return;
    if (chosen === again) await this.interrupt(executionId);
    if (chosen === kill) await this.kill(executionId);
  }

  async kill(executionId: string): Promise<void> {
    const { work, prompts } = this.parts;
    const report = await work.kill(executionId);
    if (report.done) return;
    const label = labelOf(report.request);
    const again = 'Kill Again';
    const question = `It is not confirmed that the kernel of the background run ${label} has ended.`;
    if ((await prompts.warn(question, again)) !== again) return;
    if (!work.peek(executionId).done) await this.kill(executionId);
  }

  async remove(executionId: string): Promise<void> {
    await this.parts.work.remove(executionId);
  }
}

/** What is said when a run is over. */
export function endInWords(snapshot: BackgroundSnapshot): string {
  const { status, startedAt, endedAt = startedAt, error, request } = snapshot;
  const how = {
    running: 'goes on',
    done: 'is done',
    failed: error === KILLED ? 'was killed' : 'failed',
    interrupted: 'was interrupted',
  };
  return `The background run ${labelOf(request)} ${how[status]} after ${duration(endedAt - startedAt)}.`;
}
