import { holdsPassword, isSensitive } from './sensitiveNames';

/** What a process gets, or may get: an absent name and an undefined one are the same. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** Names that a kernel was not given because only agents held its session when it started. Sorted. */
export interface WithheldNames {
  /** They look like secrets, or make programs load code. */
  readonly sensitive: readonly string[];
  /** The rest of the window's environment that nobody has allowed to agents. */
  readonly unlisted: readonly string[];
}

export interface EnvironmentSources {
  readonly window: Variables;
  /** Content of the user's file. */
  readonly file: Variables;
  /** The user's setting; null removes a name. */
  readonly setting: Readonly<Record<string, string | null>>;
  /** Names that the user lets agents have, whatever they look like. */
  readonly allowedToAgents: readonly string[];
  /** A window holds the session. */
  readonly isForPerson: boolean;
  /** Names differ only in their letters there, not in upper and lower case. */
  readonly isWindows: boolean;
  /** Fits what comes from the window to the interpreter. */
  fit(env: Variables): Readonly<Record<string, string>>;
}

export interface SessionEnvironment {
  readonly env: Readonly<Record<string, string>>;
  /** Present: it is restricted. */
  readonly withheld?: WithheldNames;
}

/**
 * A kernel's environment: the window's, below the file's, below the setting's. For agents alone, of the window's only
 * what is allowed, of the file's nothing sensitive that is not allowed by name, and all of the setting's: those a user has
 * written down for kernels.
 */
export function sessionEnvironment(sources: EnvironmentSources): SessionEnvironment {
  const { window, file, setting, isForPerson, isWindows } = sources;
  const isGiven = giverFor(sources);
  const own = withoutEditorNames(window);
  const fromWindow = pick(own, (name, value) => isForPerson || isGiven(name, value, 'window'));
  const env = { ...sources.fit(fromWindow) };
  const inFile = withoutEditorNames(file);
  for (const [name, value] of Object.entries(inFile)) {
    if (isForPerson || isGiven(name, value, 'file')) put(env, name, value, isWindows);
  }
  for (const [name, value] of Object.entries(setting)) put(env, name, value, isWindows);
  const complete = withoutEditorNames(env);
  if (isForPerson) return { env: complete };
  // What the setting gives or takes away is the user's own doing, and what does not fit the interpreter is its nature.
  const decided = [fromWindow, complete, setting].flatMap((names) => Object.keys(names));
  const isDecided = among(decided, isWindows);
  return {
    env: complete,
    withheld: namesOf(pick({ ...own, ...inFile }, (name) => !isDecided(name))),
  };
}

// They steer Electron, the editor and Node, never the user's code: ELECTRON_RUN_AS_NODE would turn an Electron app
// that the code starts into plain Node.
const NEVER_INHERITED = /^(?:ELECTRON_.*|VSCODE_.*|NODE_OPTIONS)$/i;

export function steersEditor(name: string): boolean {
  return NEVER_INHERITED.test(name);
}

/** Without what steers the editor's own processes, which no kernel and no kernel host inherits. */
export function withoutEditorNames(env: Variables): Record<string, string> {
  return pick(env, (name) => !steersEditor(name));
}

// A program needs these to find itself, its user and its machine.
const ALLOWED = [
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LANGUAGE', 'TZ', 'TERM', 'COLORTERM'],
  ...['TMPDIR', 'TEMP', 'TMP', 'DISPLAY', 'WAYLAND_DISPLAY', 'NO_COLOR', 'HOSTNAME'],
  ...['XDG_RUNTIME_DIR', 'XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_CACHE_HOME', 'XDG_STATE_HOME'],
  ...['VIRTUAL_ENV', 'CONDA_PREFIX', 'CONDA_DEFAULT_ENV', 'PYENV_VERSION', 'PYENV_ROOT'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'],
  ...['http_proxy', 'https_proxy', 'all_proxy', 'no_proxy'],
  ...['SSL_CERT_FILE', 'SSL_CERT_DIR', 'REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE'],
  ...['CUDA_HOME', 'CUDA_PATH', 'CUDA_VISIBLE_DEVICES', 'OMP_NUM_THREADS', 'MKL_NUM_THREADS'],
];
const ALLOWED_ON_WINDOWS = [
  ...['SYSTEMROOT', 'SYSTEMDRIVE', 'WINDIR', 'COMSPEC', 'PATHEXT', 'OS', 'COMPUTERNAME'],
  ...[
    'USERNAME',
    'USERDOMAIN',
    'USERPROFILE',
    'HOMEDRIVE',
    'HOMEPATH',
    'PUBLIC',
    'ALLUSERSPROFILE',
  ],
  ...['APPDATA', 'LOCALAPPDATA', 'PROGRAMDATA', 'PROGRAMFILES', 'PROGRAMFILES(X86)'],
  ...['PROGRAMW6432', 'COMMONPROGRAMFILES', 'COMMONPROGRAMFILES(X86)', 'COMMONPROGRAMW6432'],
  ...['NUMBER_OF_PROCESSORS', 'PROCESSOR_ARCHITECTURE', 'PROCESSOR_IDENTIFIER'],
];
const ALLOWED_LOCALE = /^LC_[A-Z]+$/;

type Giver = (name: string, value: string, from: 'window' | 'file') => boolean;

function giverFor({ allowedToAgents, isWindows }: EnvironmentSources): Giver {
  const isAllowed = among([...ALLOWED, ...(isWindows ? ALLOWED_ON_WINDOWS : [])], isWindows);
  const isAllowedByName = among(allowedToAgents, isWindows);
  return (name, value, from) => {
    if (isAllowedByName(name)) return true;
    if (isSensitive(name) || holdsPassword(value)) return false;
    return from === 'file' || isAllowed(name) || ALLOWED_LOCALE.test(name);
  };
}

function namesOf(env: Readonly<Record<string, string>>): WithheldNames {
  const [sensitive, unlisted]: [string[], string[]] = [[], []];
  for (const [name, value] of Object.entries(env).sort()) {
    if (isSensitive(name) || holdsPassword(value)) sensitive.push(name);
    else unlisted.push(name);
  }
  return { sensitive, unlisted };
}

function pick(
  env: Variables,
  isWanted: (name: string, value: string) => boolean,
): Record<string, string> {
  const picked: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && isWanted(name, value)) picked[name] = value;
  }
  return picked;
}

/** Sets or removes a name, however it was spelled before. */
function put(
  env: Record<string, string>,
  name: string,
  value: string | null,
  isWindows: boolean,
): void {
  const isSame = among([name], isWindows);
  for (const known of Object.keys(env)) if (isSame(known)) delete env[known];
  if (value !== null) env[name] = value;
}

function among(names: readonly string[], isWindows: boolean): (name: string) => boolean {
  const spelled = (name: string): string => (isWindows ? name.toUpperCase() : name);
  const known = new Set(names.map(spelled));
  return (name) => known.has(spelled(name));
}
