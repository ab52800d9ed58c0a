import { promises as fs } from 'node:fs';
import * as vscode from 'vscode';
import type { Disposable } from '../../base/disposable';
import type { Log } from '../../base/log';
import type { Variables } from '../../kernel/environment';
import type { Configuration } from '../configuration';
import { environmentOf, kernelEnvironment } from './environment';
import {
  findInterpreter,
  listInterpreters,
  type Interpreter,
  type InterpreterScope,
} from './interpreter';
import { thisMachine } from './machine';
import { PythonExtension } from './pythonExtension';

/** Which Python runs a folder's code, asked anew each time, since a person may change it at any moment. */
export class Interpreters {
  private readonly pythonExtension: PythonExtension;

  constructor(
    private readonly configuration: Configuration,
    private readonly log: Log,
  ) {
    this.pythonExtension = new PythonExtension(log);
  }

  /** Rejects with `interpreter_not_found`. */
  find(folder: string): Promise<Interpreter> {
    return findInterpreter(
      this.scope(folder),
      thisMachine(process.env),
      this.pythonExtension,
      this.log,
    );
  }

  async list(folder: string): Promise<readonly string[]> {
    const known = await this.pythonExtension.known();
    return listInterpreters(this.scope(folder), thisMachine(process.env), known);
  }

  /** Resolves to what fits an environment to a kernel that runs this interpreter. */
  async fitting(interpreter: string): Promise<(given: Variables) => Record<string, string>> {
    const machine = thisMachine(process.env);
    const isFile = (path: string): Promise<boolean> =>
      fs.stat(path).then(
        (found) => found.isFile(),
        () => false,
      );
    const environment = await environmentOf(interpreter, machine, isFile);
    return (given) => kernelEnvironment(given, interpreter, environment, machine);
  }

  /** Tells when the Python extension's choice changes, where that extension is present. */
  async onDidChangeChoice(listener: () => void): Promise<Disposable | undefined> {
    return this.pythonExtension.onDidChangeActive(listener);
  }

  private scope(folder: string): InterpreterScope {
    const setting = this.configuration.get('python.interpreter', vscode.Uri.file(folder));
    return { setting, folder };
  }
}
