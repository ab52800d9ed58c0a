import { posix, win32, type PlatformPath } from 'node:path';
import { HoldfastError, messageOf } from '../../base/errors';
import type { Log } from '../../base/log';

/** A Python to run code with. */
export interface Interpreter {
  /** Absolute; its directory is resolved, its name is not, since a virtual environment's python is a link to another. */
  readonly path: string;
  readonly source: 'setting' | 'pythonExtension' | 'workspace' | 'path';
  /** Somebody chose it, so it is part of a session's identity. One that was merely found is not. */
  readonly chosen: boolean;
}

/** Where an interpreter is looked for. */
export interface InterpreterScope {
  /** Value of the setting; empty when it is not set. */
  readonly setting: string;
  /** Absolute path of the workspace folder, or of the folder to work in where there is none. */
  readonly folder: string;
}

/** What the search asks of the machine. No answer starts a process. */
export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  /** The value of PATH. */
  readonly searchPath: string;
  /** A file that may be executed. */
  isProgram(path: string): Promise<boolean>;
  isFolder(path: string): Promise<boolean>;
  /** Resolves links. Rejects when the folder is not there. */
  realFolder(path: string): Promise<string>;
}

/** The environments of another extension that keeps them. */
export interface PythonEnvironments {
  /** The interpreter of the environment that is active for a folder; undefined where there is none. */
  active(folder: string): Promise<string | undefined>;
}

export const SETTING = 'holdfast.python.interpreter';

/**
 * The interpreter for a folder: the setting's, else the Python extension's choice, else the workspace's own virtual
 * environment, else the first on PATH. Rejects with `interpreter_not_found` and says what to do.
 */
export async function findInterpreter(
  scope: InterpreterScope,
  machine: Machine,
  environments: PythonEnvironments | undefined,
  log: Log,
): Promise<Interpreter> {
  if (scope.setting.trim() !== '') {
    const path = await fromSetting(scope, machine);
    return { path: await canonical(path, machine), source: 'setting', chosen: true };
  }
  const active = await activeEnvironment(scope.folder, machine, environments, log);
  if (active !== undefined)
    return { path: await canonical(active, machine), source: 'pythonExtension', chosen: true };
  const own = await inEnvironment(pathOf(machine).join(scope.folder, '.venv'), machine);
  if (own !== undefined)
    return { path: await canonical(own, machine), source: 'workspace', chosen: false };
  const [first] = await onSearchPath(machine);
  if (first !== undefined)
    return { path: await canonical(first, machine), source: 'path', chosen: false };
  throw new HoldfastError(
    'interpreter_not_found',
    `No Python found: none is chosen, ${scope.folder} has no .venv, and ${defaultName(machine)} is not on PATH. ` +
      `Install Python 3.8 or newer, or name one in the setting "${SETTING}".`,
  );
}

/** Every interpreter that can be offered for a folder, the likeliest first, each once. */
export async function listInterpreters(
  scope: InterpreterScope,
  machine: Machine,
  known: readonly string[],
): Promise<readonly string[]> {
  const path = pathOf(machine);
  const candidates = [
    await inEnvironment(path.join(scope.folder, '.venv'), machine),
    await inEnvironment(path.join(scope.folder, 'venv'), machine),
    ...known,
    ...(await onSearchPath(machine)),
  ];
  const found = new Set<string>();
  for (const candidate of candidates)
    if (candidate !== undefined && (await machine.isProgram(candidate)))
      found.add(await canonical(candidate, machine));
  return [...found];
}

/** The interpreter of a folder that is a virtual or conda environment, or one that was meant by it. */
async function inEnvironment(folder: string, machine: Machine): Promise<string | undefined> {
  const path = pathOf(machine);
  const places =
    machine.platform === 'win32'
      ? ['Scripts/python.exe', 'python.exe']
      : ['bin/python', 'bin/python3'];
  for (const place of places) {
    const candidate = path.join(folder, place);
    if (await machine.isProgram(candidate)) return candidate;
  }
  return undefined;
}

async function fromSetting(
  { setting, folder }: InterpreterScope,
  machine: Machine,
): Promise<string> {
  const path = pathOf(machine);
  const value = expand(setting.trim(), folder, machine);
  if (!/[\\/]/.test(value)) {
    const [onPath] = await searchFor([value, `${value}.exe`], machine);
    if (onPath !== undefined) return onPath;
  }
  const absolute = path.resolve(folder, value);
  if (await machine.isFolder(absolute)) {
    const inside = await inEnvironment(absolute, machine);
    if (inside !== undefined) return inside;
  } else if (await machine.isProgram(absolute)) {
    return absolute;
  }
  const where = value === setting.trim() ? value : `${setting.trim()} (${value})`;
  throw new HoldfastError(
    'interpreter_not_found',
    `The setting "${SETTING}" names a Python that is not there: ${where}. ` +
      'Correct the setting, or clear it to let Holdfast choose one.',
  );
}

/** A path in a setting: `~` and `${workspaceFolder}` stand for what they name. */
export function expand(value: string, folder: string, machine: Pick<Machine, 'home'>): string {
  const inFolder = value.replaceAll('${workspaceFolder}', folder);
  return /^~(?=$|[\\/])/.test(inFolder) ? machine.home + inFolder.slice(1) : inFolder;
}

async function activeEnvironment(
  folder: string,
  machine: Machine,
  environments: PythonEnvironments | undefined,
  log: Log,
): Promise<string | undefined> {
  if (!environments) return undefined;
  try {
    const active = await environments.active(folder);
    if (active === undefined) return undefined;
    if (await machine.isProgram(active)) return active;
    const inside = await inEnvironment(active, machine);
    if (inside === undefined) log.warn(`The Python extension's choice is not there: ${active}`);
    return inside;
  } catch (error) {
    log.warn(`The Python extension did not say which interpreter is active: ${messageOf(error)}`);
    return undefined;
  }
}

async function onSearchPath(machine: Machine): Promise<readonly string[]> {
  if (machine.platform !== 'win32') return searchFor(['python3', 'python'], machine);
  // Windows puts stubs that only open its store there, under the names of the real thing.
  const isStub = (path: string): boolean => /[\\/]WindowsApps[\\/]/i.test(path);
  const found = await searchFor(['python.exe', 'py.exe'], machine);
  return [...found.filter((path) => !isStub(path)), ...found.filter(isStub)];
}

/** By name first, then by folder: `python3` anywhere comes before any `python`. */
export async function searchFor(
  names: readonly string[],
  machine: Machine,
): Promise<readonly string[]> {
  const path = pathOf(machine);
  const folders = machine.searchPath
    .split(path.delimiter)
    .filter((folder) => path.isAbsolute(folder));
  const found: string[] = [];
  for (const name of names)
    for (const folder of folders) {
      const candidate = path.join(folder, name);
      if (!found.includes(candidate) && (await machine.isProgram(candidate))) found.push(candidate);
    }
  return found;
}

/** The one spelling of an interpreter that identifies a session. */
export async function canonical(program: string, machine: Machine): Promise<string> {
  const path = pathOf(machine);
  return path.join(await machine.realFolder(path.dirname(program)), path.basename(program));
}

function defaultName(machine: Machine): string {
  return machine.platform === 'win32' ? 'python' : 'python3';
}

export function pathOf(machine: Pick<Machine, 'platform'>): PlatformPath {
  return machine.platform === 'win32' ? win32 : posix;
}
