import { randomUUID } from 'node:crypto';
import { promises as fs } from 'node:fs';
import * as vscode from 'vscode';
import type { PooledKernel } from '../../kernel/kernel';
import type { StartRequest } from '../../pool/types';
import type { Configuration } from '../configuration';
import { sessionKeyOf } from '../sessions/target';
import { introspectHelpers } from './helpers';
import { thisMachine } from './machine';
import { contentOf, readPrelude, type Prelude } from './prelude';
import { runPrelude, type PreludeReport } from './runPrelude';

type Session = Pick<StartRequest, 'sessionId' | 'cwd'> & {
  readonly interpreter?: string | undefined;
};

/** The files that sessions begin with, as the setting names them at each start. */
export class Preludes {
  private readonly contents = new Map<string, string>();

  constructor(
    private readonly configuration: Configuration,
    private readonly reportTo: (sessionKey: string) => PreludeReport,
  ) {}

  /** Runs the prelude in a fresh kernel, and gives it back able to tell its helpers. */
  async begin(
    kernel: PooledKernel,
    request: StartRequest,
    interpreter: string,
  ): Promise<PooledKernel> {
    const key = keyOf(request);
    const prelude = await this.read(request.cwd);
    this.contents.set(key, contentOf(prelude, interpreter));
    await runPrelude(kernel, prelude, request.signal, this.reportTo(key));
    return this.introspecting(kernel, prelude);
  }

  /** A kernel that has begun with its prelude in the window before this one. */
  async takeUp(kernel: PooledKernel, request: Pick<StartRequest, 'cwd'>): Promise<PooledKernel> {
    return this.introspecting(kernel, await this.read(request.cwd));
  }

  /** A string for the prelude that a session has begun with: equal for equal ones. */
  contentOf(session: Session): string {
    const key = keyOf(session);
    return this.contents.get(key) ?? key;
  }

  private introspecting(kernel: PooledKernel, { files }: Prelude): PooledKernel {
    // Also over a reload, in which a kernel lives on, no two looks at it are of one name.
    const nextId = (): string => `helpers:${randomUUID()}`;
    return Object.assign(kernel, {
      introspectPrelude: () => introspectHelpers(kernel, files, nextId),
    });
  }

  private read(folder: string): Promise<Prelude> {
    return readPrelude({
      setting: this.configuration.get('python.prelude', vscode.Uri.file(folder)),
      folder,
      machine: thisMachine(process.env),
      readText: (path) => fs.readFile(path, 'utf8'),
    });
  }
}

function keyOf({ sessionId, cwd, interpreter }: Session): string {
  return sessionKeyOf({ sessionId, cwd, interpreter });
}
