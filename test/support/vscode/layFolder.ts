import fs from 'node:fs';
import path from 'node:path';

/**
 * Fills `folder` by `fill` unless it is already there. The work happens in a sibling folder that is renamed at the end,
 * so that an interrupted run never leaves a half one that looks ready; when two runs lay at once, the first one wins.
 */
export async function layFolder(
  folder: string,
  fill: (unfinished: string) => Promise<void>,
): Promise<void> {
  if (fs.existsSync(folder)) return;
  removeAbandoned(folder);
  const unfinished = `${folder}.unfinished-${process.pid}`;
  fs.mkdirSync(unfinished, { recursive: true });
  try {
    await fill(unfinished);
    publish(unfinished, folder);
  } finally {
    fs.rmSync(unfinished, { recursive: true, force: true });
  }
}

function publish(unfinished: string, folder: string): void {
  try {
    fs.renameSync(unfinished, folder);
  } catch (error) {
    if (!fs.existsSync(folder)) throw error;
  }
}

function removeAbandoned(folder: string): void {
  const parent = path.dirname(folder);
  if (!fs.existsSync(parent)) return;
  const prefix = `${path.basename(folder)}.unfinished-`;
  for (const name of fs.readdirSync(parent)) {
    if (!name.startsWith(prefix) || isRunning(Number(name.slice(prefix.length)))) continue;
    fs.rmSync(path.join(parent, name), { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM means that it runs as somebody else.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
