import { promises as fs } from 'node:fs';
import * as vscode from 'vscode';
import { HoldfastError } from '../../base/errors';
import type { Log } from '../../base/log';
import {
  sessionEnvironment,
  type EnvironmentSources,
  type SessionEnvironment,
} from '../../kernel/environment';
import type { StartRequest } from '../../pool/types';
import type { Configuration } from '../configuration';
import { thisMachine } from '../python/machine';
import { ownerKind } from '../sessions/owners';
import { sessionKeyOf } from '../sessions/target';
import { readEntries, readNames } from './entries';
import { readEnvFile } from './envFile';

const LONGEST_FILE_BYTES = 1024 * 1024;

/** What kernels get for an environment, by who holds their session and by the settings as they are at each start. */
export class Environments {
  constructor(
    private readonly configuration: Configuration,
    /** Tells a person, in a session's transcript. */
    private readonly tell: (sessionKey: string, sentence: string) => void,
    private readonly log: Log,
  ) {}

  /** Entries that cannot be used are told, and the others hold. Rejects only when `signal` aborts. */
  async of(request: StartRequest, fit: EnvironmentSources['fit']): Promise<SessionEnvironment> {
    const { cwd, sessionId, owners = [], signal } = request;
    const place = vscode.Uri.file(cwd);
    const setting = readEntries(this.configuration.get('environment', place));
    const allowed = readNames(this.configuration.get('agents.environment', place));
    const file = await readEnvFile({
      setting: this.configuration.get('envFile', place),
      folder: vscode.workspace.getWorkspaceFolder(place)?.uri.fsPath ?? cwd,
      machine: thisMachine(process.env),
      readText: (path) => readText(path, signal),
    });
    for (const sentence of [setting, allowed, file].flatMap(({ complaints }) => complaints)) {
      this.log.warn(sentence);
      this.tell(sessionKeyOf(request), sentence);
    }
    const environment = sessionEnvironment({
      window: process.env,
      file: file.content,
      setting: setting.content,
      allowedToAgents: allowed.content,
      isForPerson: owners.some((owner) => ownerKind(owner) === 'window'),
      isWindows: process.platform === 'win32',
      fit,
    });
    if (environment.withheld) {
      const { sensitive, unlisted } = environment.withheld;
      this.log.info(
        `${sessionId} starts for agents alone: ${sensitive.length} sensitive names and ${unlisted.length} others of the environment are withheld.`,
      );
    }
    return environment;
  }
}

/** A regular file only: a pipe would be waited for. */
async function readText(path: string, signal: AbortSignal): Promise<string> {
  const found = await fs.stat(path);
  if (found.isDirectory()) throw Object.assign(new Error('It is a folder'), { code: 'EISDIR' });
  if (!found.isFile()) throw new HoldfastError('bad_input', 'It is not a file');
  if (found.size > LONGEST_FILE_BYTES) {
    throw new HoldfastError('bad_input', `It is longer than ${LONGEST_FILE_BYTES} bytes`);
  }
  return fs.readFile(path, { encoding: 'utf8', signal });
}
