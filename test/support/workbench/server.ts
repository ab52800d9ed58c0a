import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Browser } from 'playwright-core';
import { type ProcessFamily, startFamily } from '../processes/family';
import type { RunningProcess } from '../processes/processTable';
import { until } from '../until';
import { leanBuiltinExtensions } from '../vscode/builtinExtensions';
import { freePort } from '../vscode/freePort';
import { hostEnvironment } from '../vscode/hostEnvironment';
import { layVsCode } from '../vscode/lay';
import { linkExtension } from '../vscode/linkExtension';
import { launchBrowser } from './browser';
import { type Companion, buildCompanion } from './companion';
import { type RemoteControl, listenForRemoteControl } from './remoteControl';

export interface ServerOptions {
  /** User settings on top of quiet defaults. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Settings of the machine: those of scope `machine` and `machine-overridable` count nowhere else in a served window. */
  readonly machineSettings?: Readonly<Record<string, unknown>>;
  /** Workspace trust as in a person's VS Code: folders are opened untrusted. Off by default: everything is trusted. */
  readonly workspaceTrust?: boolean;
  /** Reaches the extension hosts. `undefined` removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Folders with a package.json, installed as extensions. */
  readonly extensions?: readonly string[];
  /** All of VS Code's own extensions, Copilot included, or (by default) the few that tests look at. */
  readonly builtins?: 'lean' | 'all';
  /** Test-only extensions; by default the one that {@link RemoteControl} speaks to. */
  readonly companions?: readonly Companion[];
  /** Who the server and all that comes of it run as, instead of whoever runs the tests, who has to be root then. */
  readonly user?: { readonly uid: number; readonly gid: number };
  /** More arguments for the server, such as `--reconnection-grace-time=1`. */
  readonly args?: readonly string[];
}

/** One running VS Code server with its own user data, extensions and temporary folder. End it with `stop`. */
export interface WorkbenchServer {
  readonly url: string;
  readonly pid: number;
  /** Everything of this run: `user/`, `extensions/`, `companions/`, `tmp/`, `server.log`. Removed by `stop`. */
  readonly folder: string;
  readonly control: RemoteControl;
  /** The headless browser for this server's windows, started by the first call. */
  browser(): Promise<Browser>;
  /** Every process that came of the server, detached ones and orphans included; not the server itself. */
  processes(): RunningProcess[];
  /** The pids of kernels among them. */
  kernels(): number[];
  log(): string;
  /** Ends the server and whatever came of it, by pid, and resolves to those that did not leave by themselves. */
  stop(graceMs?: number): Promise<RunningProcess[]>;
}

const quietSettings = {
  'chat.commandCenter.enabled': false,
  'chat.disableAIFeatures': true,
  'editor.accessibilitySupport': 'off',
  'editor.minimap.enabled': false,
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'extensions.ignoreRecommendations': true,
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'window.titleBarStyle': 'custom',
  'workbench.enableExperiments': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
};

/** Starts a server on a free loopback port and resolves when it answers. */
export async function startServer(options: ServerOptions = {}): Promise<WorkbenchServer> {
  const vscode = await layVsCode();
  // Short, as the sockets in here have paths of at most 103 bytes.
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'hfw-'));
  const userData = path.join(folder, 'user');
  const extensions = path.join(folder, 'extensions');
  const temporary = path.join(folder, 'tmp');
  for (const each of [extensions, temporary]) fs.mkdirSync(each, { recursive: true, mode: 0o700 });
  writeSettings(path.join(userData, 'User'), { ...quietSettings, ...options.settings });
  writeSettings(path.join(userData, 'Machine'), options.machineSettings ?? {});
  for (const each of options.extensions ?? []) linkExtension(each, extensions);
  for (const each of options.companions ?? ['remoteControl']) {
    linkExtension(await buildCompanion(each, path.join(folder, 'companions')), extensions);
  }
  const control = await listenForRemoteControl(path.join(folder, 'control.sock'));

  const { user } = options;
  if (user !== undefined) giveAway(folder, user);
  const port = await freePort();
  const family = startFamily(
    vscode.node,
    [
      path.join(vscode.server, 'out/server-main.js'),
      ...['--host', '127.0.0.1', '--port', String(port), '--without-connection-token'],
      ...['--accept-server-license-terms', '--enable-smoke-test-driver'],
      ...['--telemetry-level', 'off', '--server-data-dir', path.join(folder, 'server')],
      ...['--user-data-dir', userData, '--extensions-dir', extensions],
      ...(options.workspaceTrust === true ? [] : ['--disable-workspace-trust']),
      ...(options.builtins === 'all'
        ? []
        : [
            '--builtin-extensions-dir',
            leanBuiltinExtensions(vscode.server, path.join(folder, 'builtin')),
          ]),
      ...(options.args ?? []),
    ],
    {
      cwd: folder,
      env: environment(temporary, control.address, {
        // A home that the user cannot enter is none.
        ...(user !== undefined && { HOME: folder }),
        ...options.env,
      }),
      ...user,
      stdio: logTo(path.join(folder, 'server.log')),
    },
  );

  const log = (): string => fs.readFileSync(path.join(folder, 'server.log'), 'utf8');
  const url = `http://127.0.0.1:${port}/`;
  let browsing: Promise<Browser> | undefined;
  const browser = async (): Promise<Browser> => (browsing ??= launchBrowser());
  const stop = async (graceMs?: number): Promise<RunningProcess[]> => {
    control.close();
    await (await browsing)?.close();
    const stubborn = await family.end(graceMs);
    fs.rmSync(folder, { recursive: true, force: true });
    return stubborn;
  };

  if (!(await answers(url, family))) {
    const said = log();
    await stop();
    throw new Error(`the VS Code server did not start:\n${said}`);
  }
  const processes = (): RunningProcess[] =>
    family.members().filter(({ pid }) => pid !== family.pid);
  const kernels = (): number[] =>
    processes()
      .filter(({ command }) => command.includes('runner.py'))
      .map(({ pid }) => pid);
  return { url, pid: family.pid, folder, control, browser, processes, kernels, log, stop };
}

function writeSettings(folder: string, settings: Readonly<Record<string, unknown>>): void {
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  fs.writeFileSync(path.join(folder, 'settings.json'), JSON.stringify(settings, null, 2));
}

async function answers(url: string, { child }: ProcessFamily): Promise<boolean> {
  const asked = async (): Promise<boolean> => {
    if (child.exitCode !== null) return true;
    return fetch(new URL('version', url)).then(
      (response) => response.ok,
      () => false,
    );
  };
  return (await until(asked, 30_000)) && child.exitCode === null;
}

function giveAway(file: string, user: { readonly uid: number; readonly gid: number }): void {
  fs.lchownSync(file, user.uid, user.gid);
  if (!fs.lstatSync(file).isDirectory()) return;
  for (const name of fs.readdirSync(file)) giveAway(path.join(file, name), user);
}

function environment(
  temporary: string,
  controlAddress: string,
  more: Readonly<Record<string, string | undefined>>,
): NodeJS.ProcessEnv {
  return {
    ...hostEnvironment(),
    TMPDIR: temporary,
    XDG_RUNTIME_DIR: temporary,
    HOLDFAST_REMOTE_CONTROL: controlAddress,
    ...more,
  };
}

function logTo(file: string): ['ignore', number, number] {
  const descriptor = fs.openSync(file, 'a');
  return ['ignore', descriptor, descriptor];
}
