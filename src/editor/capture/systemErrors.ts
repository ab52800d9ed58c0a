import { codeOf } from '../../base/errors';

export function isGone(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** The system refused something of one file: it is forbidden, held by another program, on a disk that fails… */
export function isOfSystem(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && codeOf(error) !== undefined;
}
