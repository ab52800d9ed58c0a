import { describe, expect, it } from 'vitest';
import { silentLog } from '../../src/base/log';
import { environmentOf, kernelEnvironment } from '../../src/editor/python/environment';
import {
  findInterpreter,
  listInterpreters,
  pathOf,
  type Interpreter,
  type Machine,
  type PythonEnvironments,
} from '../../src/editor/python/interpreter';

interface Disk {
  programs: readonly string[];
  links?: Readonly<Record<string, string>>;
  searchPath?: string;
  platform?: NodeJS.Platform;
}

function machineWith({ programs, links = {}, searchPath = '', platform = 'linux' }: Disk): Machine {
  const path = pathOf({ platform });
  const folders = new Set(programs.map((program) => path.dirname(program)));
  return {
    platform,
    home: '/home/ada',
    searchPath,
    isProgram: (program) => Promise.resolve(programs.includes(program)),
    isFolder: (folder) =>
      Promise.resolve(
        [...folders].some((known) => (known + path.sep).startsWith(folder + path.sep)),
      ),
    realFolder: (folder) => Promise.resolve(links[folder] ?? folder),
  };
}

function find(disk: Disk, setting = '', environments?: PythonEnvironments): Promise<Interpreter> {
  return findInterpreter({ setting, folder: '/w' }, machineWith(disk), environments, silentLog);
}

const everything: Disk = {
  programs: ['/opt/py/bin/python', '/env/bin/python', '/w/.venv/bin/python', '/usr/bin/python3'],
  searchPath: '/usr/local/bin:/usr/bin',
};
const active: PythonEnvironments = { active: () => Promise.resolve('/env/bin/python') };

describe('the interpreter for a folder', () => {
  it('is the one in the setting, before everything else', async () => {
    expect(await find(everything, '/opt/py/bin/python', active)).toEqual({
      path: '/opt/py/bin/python',
      source: 'setting',
      chosen: true,
    });
  });

  it("is else the Python extension's choice, also one that names the environment's folder", async () => {
    const choice = { path: '/env/bin/python', source: 'pythonExtension', chosen: true };
    expect(await find(everything, '', active)).toEqual(choice);
    expect(await find(everything, '', { active: () => Promise.resolve('/env') })).toEqual(choice);
  });

  it("is else the workspace's .venv, which nobody chose", async () => {
    const none: PythonEnvironments = { active: () => Promise.resolve(undefined) };
    expect(await find(everything, '', none)).toEqual({
      path: '/w/.venv/bin/python',
      source: 'workspace',
      chosen: false,
    });
  });

  it('is else python3 on PATH, before any python', async () => {
    const disk = { programs: ['/a/python', '/b/python3'], searchPath: '/a:/b' };
    expect(await find(disk)).toEqual({ path: '/b/python3', source: 'path', chosen: false });
  });

  it('falls back when the Python extension fails or names what is gone', async () => {
    const broken: PythonEnvironments = { active: () => Promise.reject(new Error('no answer')) };
    const gone: PythonEnvironments = { active: () => Promise.resolve('/gone/bin/python') };
    expect((await find(everything, '', broken)).source).toBe('workspace');
    expect((await find(everything, '', gone)).source).toBe('workspace');
  });

  it('missing everywhere says what to do', async () => {
    await expect(find({ programs: [] })).rejects.toMatchObject({
      code: 'interpreter_not_found',
      message: expect.stringMatching(
        /No Python found.*Install Python 3\.8.*holdfast\.python\.interpreter/,
      ),
    });
  });

  it('keeps the name of a link and resolves its folder, so that a virtual environment stays one', async () => {
    const disk = { programs: ['/link/bin/python'], links: { '/link/bin': '/real/bin' } };
    expect((await find(disk, '/link/bin/python')).path).toBe('/real/bin/python');
  });
});

describe('the setting', () => {
  it.each([
    ['~/py/bin/python3', '/home/ada/py/bin/python3'],
    ['${workspaceFolder}/env/bin/python', '/w/env/bin/python'],
    ['env/bin/python', '/w/env/bin/python'],
    ['env', '/w/env/bin/python'],
    ['python3.12', '/usr/bin/python3.12'],
    [' /usr/bin/python3.12 ', '/usr/bin/python3.12'],
  ])('takes %s', async (setting, path) => {
    const disk = {
      programs: ['/home/ada/py/bin/python3', '/w/env/bin/python', '/usr/bin/python3.12'],
      searchPath: '/usr/bin',
    };
    expect((await find(disk, setting)).path).toBe(path);
  });

  it('that names nothing is an error that names the setting, never another Python', async () => {
    await expect(find(everything, '/nowhere/python')).rejects.toMatchObject({
      code: 'interpreter_not_found',
      message: expect.stringMatching(/"holdfast\.python\.interpreter".*\/nowhere\/python/),
    });
  });
});

describe('on Windows', () => {
  it("takes python before the launcher, and the store's stub last", async () => {
    const stub = 'C:\\Users\\ada\\AppData\\Local\\Microsoft\\WindowsApps';
    const disk: Disk = {
      platform: 'win32',
      programs: [`${stub}\\python.exe`, 'C:\\Windows\\py.exe'],
      searchPath: `${stub};C:\\Windows;C:\\Py`,
    };
    expect((await find(disk)).path).toBe('C:\\Windows\\py.exe');
    const more = { ...disk, programs: [...disk.programs, 'C:\\Py\\python.exe'] };
    expect((await find(more)).path).toBe('C:\\Py\\python.exe');
  });
});

it('offers every interpreter once, the likeliest first', async () => {
  const machine = machineWith({ ...everything, links: { '/same/bin': '/env/bin' } });
  const known = ['/env/bin/python', '/same/bin/python', '/gone/python'];
  expect(await listInterpreters({ setting: '', folder: '/w' }, machine, known)).toEqual([
    '/w/.venv/bin/python',
    '/env/bin/python',
    '/usr/bin/python3',
  ]);
});

describe('the environment of a kernel', () => {
  const machine = machineWith({ programs: [] });
  const venv = { prefix: '/w/.venv', kind: 'virtual', leadsPath: false } as const;

  it("has nothing of the editor's", () => {
    const window = {
      ELECTRON_RUN_AS_NODE: '1',
      VSCODE_IPC_HOOK: 'x',
      NODE_OPTIONS: '--inspect',
      HOME: '/home/ada',
      EMPTY: undefined,
    };
    const plain = { prefix: '/usr', kind: 'plain', leadsPath: true } as const;
    expect(kernelEnvironment(window, '/usr/bin/python3', plain, machine)).toEqual({
      HOME: '/home/ada',
    });
  });

  it('activates the virtual environment that the interpreter is in', () => {
    const window = { PATH: '/usr/bin:/w/.venv/bin', VIRTUAL_ENV: '/other', PYTHONHOME: '/odd' };
    expect(kernelEnvironment(window, '/w/.venv/bin/python', venv, machine)).toEqual({
      PATH: '/w/.venv/bin:/usr/bin',
      VIRTUAL_ENV: '/w/.venv',
    });
  });

  it('leaves PATH alone where it leads to the interpreter, and else makes it do so', () => {
    const window = { PATH: '/env/bin:/usr/bin', VIRTUAL_ENV: '/env' };
    const plain = { prefix: '/usr', kind: 'plain', leadsPath: false } as const;
    expect(kernelEnvironment(window, '/usr/bin/python3', plain, machine)).toEqual({
      PATH: '/usr/bin:/env/bin',
    });
    const leading = { ...plain, leadsPath: true };
    expect(kernelEnvironment(window, '/usr/bin/python3', leading, machine)['PATH']).toBe(
      window.PATH,
    );
  });

  it('is recognised by what lies beside the interpreter', async () => {
    const disk = machineWith({
      programs: [
        '/w/.venv/bin/python',
        '/usr/bin/python3',
        '/conda/conda-meta/x',
        '/conda/bin/python',
      ],
      searchPath: '/usr/bin',
    });
    const isFile = (path: string): Promise<boolean> =>
      Promise.resolve(path === '/w/.venv/pyvenv.cfg');
    expect(await environmentOf('/w/.venv/bin/python', disk, isFile)).toEqual(venv);
    expect(await environmentOf('/usr/bin/python3', disk, isFile)).toEqual({
      prefix: '/usr',
      kind: 'plain',
      leadsPath: true,
    });
    expect((await environmentOf('/conda/bin/python', disk, isFile)).kind).toBe('conda');
  });
});
