import type { Transcript } from '../panel/transcript';
import type { Prompts } from '../prompts';
import type { LeftOut } from './leftOut';
import type { Records } from './records';

interface RecordActionsParts {
  readonly transcript: Pick<Transcript, 'note' | 'forgetEarlier'>;
  readonly leftOut: LeftOut;
  readonly prompts: Prompts;
  records(): Promise<Pick<Records, 'kept' | 'clear'>>;
}

const CLEAR = 'Clear';

/** What a person decides about kept transcripts. Rejections are the caller's to tell. */
export class RecordActions {
  constructor(private readonly parts: RecordActionsParts) {}

  /** Of all sessions of the workspace, of all its windows. */
  async clearAll(): Promise<void> {
    const { prompts, transcript } = this.parts;
    const records = await this.parts.records();
    const kept = await records.kept();
    if (kept.length === 0) {
      await prompts.inform('No transcript is kept of this workspace.');
      return;
    }
    const sessions = kept.length === 1 ? '1 session' : `${kept.length} sessions`;
    const bytes = kept.reduce((sum, each) => sum + each.bytes, 0);
    const question = `Clear the kept transcripts of ${sessions} (${inWords(bytes)})? They can't be brought back.`;
    if ((await prompts.warn(question, CLEAR)) !== CLEAR) return;
    await records.clear();
    transcript.forgetEarlier();
  }

  /** From now on; what was kept so far stays, unless the person has it cleared too. */
  async leaveOut(sessionKey: string, label: string): Promise<void> {
    const { leftOut, transcript, prompts } = this.parts;
    await leftOut.set(sessionKey, true);
    transcript.note(sessionKey, 'From here on, this transcript is not kept');
    const records = await this.parts.records();
    if (!(await records.kept()).some(({ key }) => key === sessionKey)) return;
    const question = `The transcript of ${label} is no longer kept. Clear what was kept of it so far, too?`;
    if ((await prompts.inform(question, CLEAR)) === CLEAR) await records.clear(sessionKey);
  }

  async keep(sessionKey: string): Promise<void> {
    await this.parts.leftOut.set(sessionKey, false);
    this.parts.transcript.note(sessionKey, 'From here on, this transcript is kept');
  }
}

function inWords(bytes: number): string {
  return bytes < 1_000_000
    ? `${Math.ceil(bytes / 1_000)} kB`
    : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
