import * as v from 'valibot';
import * as vscode from 'vscode';
import { messageOf } from '../../base/errors';
import type { Disposable } from '../../base/disposable';
import type { Log } from '../../base/log';
import type { PythonEnvironments } from './interpreter';

// The Python extension publishes this as `PythonExtension` in @vscode/python-extension. Only what is used is looked at.
const Exports = v.object({
  environments: v.object({
    getActiveEnvironmentPath: v.function(),
    resolveEnvironment: v.function(),
    onDidChangeActiveEnvironmentPath: v.optional(v.function()),
    known: v.optional(v.unknown()),
  }),
});
const ActivePath = v.object({ id: v.optional(v.string()), path: v.string() });
const Resolved = v.object({
  executable: v.object({ uri: v.optional(v.object({ fsPath: v.string() })) }),
});

const EXTENSION = 'ms-python.python';
/** Of its activation, and of each of its answers. */
const LIMIT_MS = 15_000;

/** The Python extension's choice of an environment, when that extension is present. */
export class PythonExtension implements PythonEnvironments {
  constructor(private readonly log: Log) {}

  async active(folder: string): Promise<string | undefined> {
    const environments = await this.environments();
    if (!environments) return undefined;
    const resource = vscode.Uri.file(folder);
    const active = v.safeParse(ActivePath, environments.getActiveEnvironmentPath(resource));
    if (!active.success) return undefined;
    const resolved = v.safeParse(
      Resolved,
      await this.inTime(
        Promise.resolve(environments.resolveEnvironment(active.output)),
        'did not resolve its environment in time',
      ),
    );
    // An environment that cannot be resolved may still be named by its path.
    return (resolved.success && resolved.output.executable.uri?.fsPath) || active.output.path;
  }

  /** Interpreters that it knows of. */
  async known(): Promise<readonly string[]> {
    const environments = await this.environments();
    const all = v.safeParse(v.array(v.unknown()), environments?.known);
    return (all.success ? all.output : []).flatMap((one) => {
      const parsed = v.safeParse(Resolved, one);
      const path = parsed.success ? parsed.output.executable.uri?.fsPath : undefined;
      return path === undefined ? [] : [path];
    });
  }

  /** Tells when another environment was made the active one. Does not activate the extension. */
  async onDidChangeActive(listener: () => void): Promise<Disposable | undefined> {
    const environments = await this.environments();
    return environments?.onDidChangeActiveEnvironmentPath?.(listener) as Disposable | undefined;
  }

  private async environments(): Promise<v.InferOutput<typeof Exports>['environments'] | undefined> {
    const extension = vscode.extensions.getExtension<unknown>(EXTENSION);
    if (!extension) return undefined;
    const exports = await this.activated(extension);
    const parsed = v.safeParse(Exports, exports);
    if (!parsed.success) {
      this.log.warn(`${EXTENSION} has another interface than expected; its choice is not used.`);
      return undefined;
    }
    return parsed.output.environments;
  }

  private async activated(extension: vscode.Extension<unknown>): Promise<unknown> {
    try {
      const activation = Promise.resolve(extension.activate());
      return await this.inTime(activation, 'did not activate in time; its choice is not used');
    } catch (error) {
      this.log.warn(`${EXTENSION} failed to activate: ${messageOf(error)}`);
      return undefined;
    }
  }

  /** It works with processes of its own, which may hang: undefined when it takes too long. */
  private async inTime<T>(answer: Promise<T>, complaint: string): Promise<T | undefined> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => {
        this.log.warn(`${EXTENSION} ${complaint}.`);
        resolve(undefined);
      }, LIMIT_MS);
    });
    try {
      return await Promise.race([answer, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}
