import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { BaselineThread } from '../../src/editor/capture/baselineThread';
import { captureLimits } from '../../src/editor/capture/limits';
import { add, type Report } from './report';

const FILES = 50_000;
const FILES_IN_FOLDER = 50;
const TEXT = 'value = compute(a, b)  # a line of code\n'.repeat(25);
const LONGEST_BLOCK_MS = 50;

/** A capture of a run that changes three files in a workspace of 50,000, beside tools that look at each file once. */
export async function measureCapture(report: Report): Promise<void> {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'hfb-'));
  const storage = fs.mkdtempSync(path.join(os.tmpdir(), 'hfb-'));
  const script = path.join(__dirname, '../../dist/captureWorker.js');
  const baseline = new BaselineThread(script, { root, storage, limits: captureLimits });
  const delay = monitorEventLoopDelay({ resolution: 5 });
  try {
    layWorkspace(root);
    await run(root, 'git', 'init', '-q');
    await run(root, 'git', '-c', 'core.looseCompression=0', 'add', '-A');
    // Once for the file cache, so that both sides find it warm.
    await run(root, 'find', '.', '-type', 'f', '-newermt', '2100-01-01');
    delay.enable();
    const first = await capture(baseline, root, 'one');
    const repeated = await capture(baseline, root, 'two');
    delay.disable();
    const find = await run(root, 'find', '.', '-type', 'f', '-newermt', '2100-01-01');
    const status = await run(root, 'git', 'status', '--porcelain');
    const read = await run(
      root,
      'sh',
      '-c',
      'find . -type f -not -path "./.git/*" -print0 | xargs -0 cat > /dev/null',
    );
    add(report, 'capture of 50,000 files, first', first, 'ms', 'find | xargs cat', read);
    add(report, 'capture of 50,000 files, repeated', repeated, 'ms', 'find', find);
    add(report, 'capture of 50,000 files, repeated (git)', repeated, 'ms', 'git status', status);
    const longest = delay.max / 1e6;
    add(report, 'capture, longest block of the thread', longest, 'ms', 'limit', LONGEST_BLOCK_MS);
  } finally {
    await baseline.dispose();
    fs.rmSync(root, { recursive: true, force: true });
    fs.rmSync(storage, { recursive: true, force: true });
  }
}

function layWorkspace(root: string): void {
  fs.writeFileSync(path.join(root, '.gitignore'), '*.log\nbuild/\n__pycache__/\n.venv/\n');
  for (let at = 0; at < FILES; at++) {
    const folder = path.join(
      root,
      `part ${Math.floor(at / 2_500)}`,
      `${Math.floor(at / FILES_IN_FOLDER)}`,
    );
    if (at % FILES_IN_FOLDER === 0) fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(path.join(folder, `${at}.py`), `${at}\n${TEXT}`);
  }
}

/** The time that a capture adds to its run. */
async function capture(baseline: BaselineThread, root: string, text: string): Promise<number> {
  const began = performance.now();
  await baseline.refresh(['**/.DS_Store', '**/out']);
  for (let at = 0; at < 3; at++) fs.writeFileSync(path.join(root, `part ${at}`, 'result'), text);
  const { changes } = await baseline.changes(Date.now());
  if (changes.length !== 3) throw new Error(`Expected 3 changes, found ${changes.length}.`);
  return performance.now() - began;
}

async function run(cwd: string, program: string, ...args: string[]): Promise<number> {
  const began = performance.now();
  await new Promise<void>((resolve, reject) => {
    const child = spawn(program, args, { cwd, stdio: 'ignore' });
    child.once('error', reject);
    child.once('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`${program} ended with ${code}`)),
    );
  });
  return performance.now() - began;
}
