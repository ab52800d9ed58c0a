import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** Runs npm without scripts and without chatter; resolves to its standard output, rejects with its words when it fails. */
export async function npm(args: readonly string[], cwd: string): Promise<string> {
  const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const { stdout } = await execute('npm', [...args, ...quiet], {
    cwd,
    env: outsideOfScripts(),
    maxBuffer: 64 * 1024 * 1024,
    shell: process.platform === 'win32',
  });
  return stdout;
}

/** `npm start` hands its own package's settings down as npm_*; an npm inside another folder must not obey those. */
function outsideOfScripts(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^npm_(package|lifecycle|command|execpath|node_execpath)/.test(name),
  );
  return Object.fromEntries(kept.filter(([name]) => name !== 'npm_config_local_prefix'));
}
