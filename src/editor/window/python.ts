import type { DisposableStore } from '../../base/disposable';
import { createPython, type Python } from '../python';
import type { Essentials } from './essentials';

/** Finds interpreters, and reports what is noteworthy of a kernel's start in the panel, with its session. */
export async function createWindowPython(
  options: Pick<Essentials, 'book' | 'transcript' | 'log' | 'configuration'> & {
    readonly store: DisposableStore;
  },
): Promise<Python> {
  const { store, book, transcript, log } = options;
  const configuration = await options.configuration();
  return store.add(
    createPython({
      ...{ configuration, book, log },
      reportTo: (sessionKey) => ({
        output: (output) => transcript.sessionOutput(sessionKey, output),
        note: (text) => transcript.note(sessionKey, text),
      }),
    }),
  );
}
