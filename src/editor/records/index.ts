import { createHash } from 'node:crypto';
import path from 'node:path';
import { diskIn } from './disk';
import { defaultLimits } from './limits';
import { RecordFiles } from './recordFiles';
import { Records, type RecordsParts } from './records';

export type { Records } from './records';

interface RecordsOptions extends Omit<RecordsParts, 'files' | 'limits'> {
  /** The extension's own folder for what belongs to no workspace. */
  readonly storage: string;
  /** The same string for the same workspace; undefined: a window without one. */
  readonly workspace: string | undefined;
  /** Of this window, as long as its extension host lives: letters and digits. */
  readonly writer: string;
}

/**
 * Not in the folder that the editor has for a workspace: a window that opens while an earlier one's extension host still
 * lingers gets another one there, and would find nothing.
 */
export function createRecords({ storage, workspace, writer, ...parts }: RecordsOptions): Records {
  const name = createHash('sha256')
    .update(workspace ?? '')
    .digest('hex')
    .slice(0, 32);
  const folder = path.join(storage, 'transcripts', workspace === undefined ? 'no-folder' : name);
  const limits = defaultLimits;
  return new Records({ ...parts, limits, files: new RecordFiles(diskIn(folder), writer, limits) });
}
