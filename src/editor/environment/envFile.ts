import { parse } from 'dotenv';
import { codeOf, messageOf } from '../../base/errors';
import { expand, pathOf, type Machine } from '../python/interpreter';
import type { Read } from './entries';

const FILE_SETTING = 'holdfast.envFile';
export const DEFAULT_FILE = '${workspaceFolder}/.env';

interface EnvFileScope {
  /** Value of the setting. */
  readonly setting: string;
  /** What relative paths start from. */
  readonly folder: string;
  readonly machine: Pick<Machine, 'platform' | 'home'>;
  /** Rejects when it is no file that can be read, with the system's code. */
  readText(path: string): Promise<string>;
}

/** Reads the file of names and values that the setting names. Never rejects. */
export async function readEnvFile(scope: EnvFileScope): Promise<Read<Record<string, string>>> {
  const { setting, folder, machine } = scope;
  const named = setting.trim();
  if (named === '') return { content: {}, complaints: [] };
  const path = pathOf(machine).resolve(folder, expand(named, folder, machine));
  try {
    return { content: parse(await scope.readText(path)), complaints: [] };
  } catch (error) {
    // Nobody has asked for the default, and a virtual environment may have that name too.
    const isUsual = ['ENOENT', 'ENOTDIR', 'EISDIR'].includes(codeOf(error) ?? '');
    if (named === DEFAULT_FILE && isUsual) return { content: {}, complaints: [] };
    const complaint = `The setting "${FILE_SETTING}" names ${path}, which cannot be read: ${messageOf(error)}. The session starts without it.`;
    return { content: {}, complaints: [complaint] };
  }
}
