import { count } from '../sessions/words';
import type { CapturedFile, CaptureRecord } from './record';

/** "2 created, 1 changed", or that nothing was. */
export function changesInWords(files: readonly Pick<CapturedFile, 'kind'>[]): string {
  const kinds = ['created', 'changed', 'deleted'] as const;
  const parts = kinds.flatMap((kind) => {
    const number = files.filter((file) => file.kind === kind).length;
    return number === 0 ? [] : [`${number} ${kind}`];
  });
  return parts.join(', ') || 'no file changed';
}

/** Where there are notes, something may be missing. */
export function noChangeInWords({ notes }: Pick<CaptureRecord, 'notes'>): string {
  return notes.length === 0 ? 'no file changed' : 'no changed file was seen';
}

/** What a person is told when it is over. */
export function endInWords(record: CaptureRecord): string {
  const { files, exitCode, failure, notes } = record;
  const run =
    failure !== undefined
      ? 'The run failed'
      : exitCode === undefined
        ? 'The run was cancelled'
        : exitCode === 0
          ? 'The run is over'
          : 'The run ended with an error';
  const changes = files.length === 0 ? noChangeInWords(record) : count(files.length, 'file');
  const kinds = files.length === 0 ? '' : ` (${changesInWords(files)})`;
  return [`${run}: ${changes}${kinds}.`, ...notes].join(' ');
}

/** What stands below the run in its transcript. */
export function capturedInWords(record: CaptureRecord): string {
  const { files } = record;
  if (files.length === 0) return `Captured: ${noChangeInWords(record)}`;
  return `Captured: ${count(files.length, 'file')} (${changesInWords(files)}), see Show Captured Changes`;
}

/** What there is to say of a file of which there is no text to compare. */
export function stateInWords({ path, kind, before, after }: CapturedFile): string {
  const side = (state: CapturedFile['before']): string =>
    state
      ? `${state.bytes.toLocaleString('en')} bytes, SHA-256 ${state.sha256 ?? 'not known: too large'}`
      : 'not there';
  return `${path} was ${kind}. Before: ${side(before)}. After: ${side(after)}.`;
}
