import { execFileSync } from 'node:child_process';

/** The interpreter itself: what is on the PATH may be a script of a version manager, which takes longer than Python. */
export function realPython(): string {
  const code = 'import sys; print(sys.executable)';
  return execFileSync('python3', ['-c', code], { encoding: 'utf8' }).trim();
}
