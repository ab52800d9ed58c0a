import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readEntries, readNames } from '../../src/editor/environment/entries';
import { DEFAULT_FILE, readEnvFile } from '../../src/editor/environment/envFile';
import { sessionEnvironment, type EnvironmentSources } from '../../src/kernel/environment';
import { isSensitive } from '../../src/kernel/sensitiveNames';

const nothingGiven: EnvironmentSources = {
  window: {},
  file: {},
  setting: {},
  allowedToAgents: [],
  isForPerson: false,
  isWindows: false,
  fit: (env) => env as Record<string, string>,
};

const of = (sources: Partial<EnvironmentSources>) =>
  sessionEnvironment({ ...nothingGiven, ...sources });

const window = {
  PATH: '/venv/bin:/bin',
  HOME: '/home/ada',
  LC_ALL: 'C.UTF-8',
  VIRTUAL_ENV: '/venv',
  EDITOR_THEME: 'dark',
  OPENAI_API_KEY: 'sk-1',
  LD_PRELOAD: '/x.so',
  HTTPS_PROXY: 'http://proxy:3128',
  ALL_PROXY: 'http://ada:pw@proxy:3128',
  VSCODE_PID: '1',
  ELECTRON_RUN_AS_NODE: '1',
  NODE_OPTIONS: '--inspect',
  EMPTY: undefined,
};

describe('the environment of a session that a person holds', () => {
  it('is the whole window, an activated environment and secrets included, but for what steers the editor', () => {
    const { env, withheld } = of({ window, isForPerson: true });
    const { VSCODE_PID, ELECTRON_RUN_AS_NODE, NODE_OPTIONS, EMPTY, ...rest } = window;
    expect([VSCODE_PID, ELECTRON_RUN_AS_NODE, NODE_OPTIONS, EMPTY]).toHaveLength(4);
    expect(env).toEqual(rest);
    expect(withheld).toBeUndefined();
  });

  it('has the file above the window and the setting above both; null removes', () => {
    const { env } = of({
      isForPerson: true,
      window: { A: 'window', B: 'window', C: 'window', D: 'window' },
      file: { B: 'file', C: 'file', TOKEN: 'file', NODE_OPTIONS: 'x' },
      setting: { C: 'setting', D: null, E: '', VSCODE_PID: 'x' },
    });
    expect(env).toEqual({ A: 'window', B: 'file', C: 'setting', TOKEN: 'file', E: '' });
  });

  it('has what a user gives above what the interpreter is fitted with', () => {
    const { env } = of({
      isForPerson: true,
      window: { PATH: '/bin' },
      file: { PATH: '/mine' },
      fit: (given) => ({ ...given, PATH: `/venv:${given['PATH']}`, VIRTUAL_ENV: '/venv' }),
    });
    expect(env).toEqual({ PATH: '/mine', VIRTUAL_ENV: '/venv' });
  });
});

describe('the environment of a session that only agents hold', () => {
  it('is what a program needs, and the rest is named', () => {
    const { env, withheld } = of({ window });
    expect(env).toEqual({
      PATH: '/venv/bin:/bin',
      HOME: '/home/ada',
      LC_ALL: 'C.UTF-8',
      VIRTUAL_ENV: '/venv',
      HTTPS_PROXY: 'http://proxy:3128',
    });
    expect(withheld).toEqual({
      sensitive: ['ALL_PROXY', 'LD_PRELOAD', 'OPENAI_API_KEY'],
      unlisted: ['EDITOR_THEME'],
    });
    expect(JSON.stringify(withheld)).not.toContain('sk-1');
  });

  it('has what the user allows by name, whatever it looks like, but for what steers the editor', () => {
    const allowedToAgents = ['OPENAI_API_KEY', 'LD_PRELOAD', 'VSCODE_PID', 'ABSENT'];
    const { env, withheld } = of({ window, allowedToAgents });
    expect(env).toMatchObject({ OPENAI_API_KEY: 'sk-1', LD_PRELOAD: '/x.so' });
    expect(env).not.toHaveProperty('VSCODE_PID');
    expect(withheld?.sensitive).toEqual(['ALL_PROXY']);
  });

  it('has all of the setting, and of the file what is not sensitive', () => {
    const { env, withheld } = of({
      file: {
        DEBUG: '1',
        DB_PASSWORD: 'pw',
        DATABASE: 'pg://u:pw@h/d',
        BASH_ENV: '/x',
        ALLOWED_KEY: 'k',
      },
      setting: { MY_TOKEN: 't' },
      allowedToAgents: ['ALLOWED_KEY'],
    });
    expect(env).toEqual({ DEBUG: '1', MY_TOKEN: 't', ALLOWED_KEY: 'k' });
    expect(withheld).toEqual({ sensitive: ['BASH_ENV', 'DATABASE', 'DB_PASSWORD'], unlisted: [] });
  });

  it('counts nothing as withheld that the user gave or took away', () => {
    const setting = { OPENAI_API_KEY: 'other', EDITOR_THEME: null };
    const { env, withheld } = of({ window, setting });
    expect(env['OPENAI_API_KEY']).toBe('other');
    expect(withheld).toEqual({ sensitive: ['ALL_PROXY', 'LD_PRELOAD'], unlisted: [] });
  });

  it('never has a sensitive name of the window that nobody allowed, however it is spelled', () => {
    const word = fc.constantFrom(
      'KEY',
      'token',
      'Password',
      'SECRET',
      'cookie',
      'Credential',
      'pwd',
    );
    const part = fc.stringMatching(/^[A-Za-z]{0,5}$/);
    const name = fc
      .tuple(part, word, fc.stringMatching(/^[0-9]{0,2}$/))
      .map((parts) => parts.join('_'));
    fc.assert(
      fc.property(fc.dictionary(name, fc.string()), fc.boolean(), (given, isWindows) => {
        const { env, withheld } = of({ window: given, isWindows });
        expect(env).toEqual({});
        expect(withheld?.sensitive).toEqual(Object.keys(given).sort());
      }),
    );
  });
});

describe('on Windows', () => {
  it('names are the same in upper and lower case', () => {
    const { env } = of({
      isWindows: true,
      isForPerson: true,
      window: { Path: 'C:\\a', Temp: 'C:\\t', Gone: '1', node_options: 'x', Electron_X: '1' },
      file: { PATH: 'C:\\b' },
      setting: { TEMP: 'C:\\u', GONE: null },
    });
    expect(env).toEqual({ PATH: 'C:\\b', TEMP: 'C:\\u' });
  });

  it('agents get what programs need there', () => {
    const allowedToAgents = ['MINE'];
    const given = {
      SystemRoot: 'C:\\Windows',
      Path: 'C:\\a',
      'ProgramFiles(x86)': 'C:\\p',
      Mine: '1',
      my_Token: 't',
    };
    const { env, withheld } = of({ isWindows: true, window: given, allowedToAgents });
    expect(Object.keys(env)).toEqual(['SystemRoot', 'Path', 'ProgramFiles(x86)', 'Mine']);
    expect(withheld).toEqual({ sensitive: ['my_Token'], unlisted: [] });
  });
});

describe('names', () => {
  it.each([
    ...[
      'AWS_SECRET_ACCESS_KEY',
      'GITHUB_TOKEN',
      'npm_config__authToken',
      'PGPASSWORD',
      'MYSQL_PWD',
    ],
    ...['apiKey', 'APIKEY2', 'SESSION_COOKIE', 'GOOGLE_APPLICATION_CREDENTIALS', 'SSH_AUTH_SOCK'],
    ...[
      'DB_PASS',
      'SLACK_WEBHOOK_URL',
      'DATABASE_URL',
      'SENTRY_DSN',
      'JWT',
      'clientsecret',
      'XAUTHORITY',
    ],
    ...['LD_PRELOAD', 'LD_AUDIT', 'LD_LIBRARY_PATH', 'DYLD_INSERT_LIBRARIES', 'PYTHONSTARTUP'],
    ...['PYTHONPATH', 'BASH_ENV', 'ENV', 'BASH_FUNC_ls%%', 'NODE_OPTIONS', 'PERL5OPT', 'RUBYOPT'],
    ...[
      'JAVA_TOOL_OPTIONS',
      'DOTNET_STARTUP_HOOKS',
      'CORECLR_PROFILER',
      'GIT_SSH_COMMAND',
      'ZDOTDIR',
    ],
  ])('%s is sensitive', (name) => expect(isSensitive(name)).toBe(true));

  it.each([
    ...[
      'PATH',
      'PWD',
      'OLDPWD',
      'HOME',
      'LANG',
      'TERM',
      'KEYBOARD',
      'AUTHOR',
      'DEBUG',
      'PASSENGER',
    ],
    ...['PYTHONHASHSEED', 'PYTHONUNBUFFERED', 'XDG_SESSION_ID', 'SystemRoot', 'OMP_NUM_THREADS'],
  ])('%s is not', (name) => expect(isSensitive(name)).toBe(false));
});

describe('the settings', () => {
  it('lose no entry for another that cannot be used, and name that one without its value', () => {
    const { content, complaints } = readEntries({
      A: '1',
      B: null,
      C: 3,
      '': 'x',
      'D=E': 'x',
      NODE_OPTIONS: 'x',
    });
    expect(content).toEqual({ A: '1', B: null });
    expect(complaints).toEqual([
      expect.stringMatching(
        /^The setting "holdfast\.environment" .* "C": its value is neither a string nor null\./,
      ),
      expect.stringMatching(/"": its name is empty/),
      expect.stringMatching(/"D=…": its name has a character that no name can have/),
      expect.stringMatching(/"NODE_OPTIONS": it steers the editor/),
    ]);
    expect(readEntries('A=s3cret')).toEqual({
      content: {},
      complaints: [expect.not.stringContaining('s3cret')],
    });
  });

  it('are the same for the list of names', () => {
    const { content, complaints } = readNames(['A', 7, 'K=s3cret']);
    expect(content).toEqual(['A']);
    expect(complaints.join()).toMatch(
      /"number 2": it is not a string.*"number 3": its name has a character/,
    );
    expect(complaints.join()).not.toContain('s3cret');
    expect(readNames({ A: '1' }).complaints).toHaveLength(1);
  });
});

describe('the file of variables', () => {
  const failing = (code: string) => () =>
    Promise.reject(Object.assign(new Error(`${code}: no`), { code }));
  const read = (setting: string, readText: (path: string) => Promise<string>) =>
    readEnvFile({
      setting,
      folder: '/w',
      machine: { platform: 'linux', home: '/home/ada' },
      readText,
    });

  it('is read from where the setting says', async () => {
    const paths: string[] = [];
    const text = '\uFEFFA=1\r\nexport B="two words" # c\n# no\nC=\'$A\'\nD="x\ny"\nE=a=b\n';
    const readText = (path: string): Promise<string> => {
      paths.push(path);
      return Promise.resolve(text);
    };
    const content = { A: '1', B: 'two words', C: '$A', D: 'x\ny', E: 'a=b' };
    expect(await read(DEFAULT_FILE, readText)).toEqual({ content, complaints: [] });
    await read('~/my.env', readText);
    await read(' conf/.env ', readText);
    expect(paths).toEqual(['/w/.env', '/home/ada/my.env', '/w/conf/.env']);
  });

  it('need not be there, as long as nobody has named it', async () => {
    expect(await read(DEFAULT_FILE, failing('ENOENT'))).toEqual({ content: {}, complaints: [] });
    expect(await read(DEFAULT_FILE, failing('EISDIR'))).toEqual({ content: {}, complaints: [] });
    expect(await read('', failing('ENOENT'))).toEqual({ content: {}, complaints: [] });
    expect((await read('a.env', failing('ENOENT'))).complaints).toEqual([
      'The setting "holdfast.envFile" names /w/a.env, which cannot be read: ENOENT: no. The session starts without it.',
    ]);
    expect((await read(DEFAULT_FILE, failing('EACCES'))).complaints).toHaveLength(1);
  });
});
