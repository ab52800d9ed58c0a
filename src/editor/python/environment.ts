import { withoutEditorNames, type Variables } from '../../kernel/environment';
import { canonical, pathOf, searchFor, type Machine } from './interpreter';

/** What the folder above an interpreter tells about it. */
interface EnvironmentKind {
  /** Root of the virtual or conda environment that the interpreter belongs to. */
  readonly prefix: string;
  readonly kind: 'virtual' | 'conda' | 'plain';
  /** Its name, looked up on PATH, already gives this interpreter. */
  readonly leadsPath: boolean;
}

/**
 * An environment without what belongs to the editor, and with the interpreter's environment activated, so that `python`
 * in a subprocess is the Python that runs the code.
 */
export function kernelEnvironment(
  given: Variables,
  interpreter: string,
  environment: EnvironmentKind,
  machine: Pick<Machine, 'platform'>,
): Record<string, string> {
  const env = withoutEditorNames(given);
  activate(env, interpreter, environment, machine);
  return env;
}

export async function environmentOf(
  interpreter: string,
  machine: Machine,
  isFile: (path: string) => Promise<boolean>,
): Promise<EnvironmentKind> {
  const path = pathOf(machine);
  const program = await canonical(interpreter, machine);
  const folder = path.dirname(program);
  const [first] = await searchFor([path.basename(program)], machine);
  const leadsPath = first !== undefined && (await canonical(first, machine)) === program;
  // On Windows conda keeps python.exe in the root of the environment, everybody else one folder down.
  for (const prefix of [path.dirname(folder), folder]) {
    if (await isFile(path.join(prefix, 'pyvenv.cfg')))
      return { prefix, kind: 'virtual', leadsPath };
    if (await machine.isFolder(path.join(prefix, 'conda-meta')))
      return { prefix, kind: 'conda', leadsPath };
  }
  return { prefix: path.dirname(folder), kind: 'plain', leadsPath };
}

function activate(
  env: Record<string, string>,
  interpreter: string,
  { prefix, kind, leadsPath }: EnvironmentKind,
  machine: Pick<Machine, 'platform'>,
): void {
  const path = pathOf(machine);
  if (env['VIRTUAL_ENV'] !== prefix) delete env['VIRTUAL_ENV'];
  delete env['__PYVENV_LAUNCHER__'];
  if (kind === 'virtual') env['VIRTUAL_ENV'] = prefix;
  if (kind === 'conda') env['CONDA_PREFIX'] = prefix;
  // A home that was meant for another Python keeps this one from finding its own library.
  if (kind !== 'plain') delete env['PYTHONHOME'];
  if (kind === 'plain' && leadsPath) return;
  const folders = [path.dirname(interpreter)];
  if (kind === 'conda' && machine.platform === 'win32')
    folders.push(path.join(prefix, 'Library', 'bin'), path.join(prefix, 'Scripts'));
  const name = Object.keys(env).find((key) => key.toUpperCase() === 'PATH') ?? 'PATH';
  const rest = (env[name] ?? '')
    .split(path.delimiter)
    .filter((folder) => !folders.includes(folder));
  env[name] = [...folders, ...rest].filter((folder) => folder !== '').join(path.delimiter);
}
