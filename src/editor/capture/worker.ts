import { parentPort, workerData } from 'node:worker_threads';
import { asError } from '../../base/errors';
import { Baseline } from './baseline';
import type { Answer, Request, WorkerData } from './workerMessages';

/** The thread of one folder's captures: it may wait for the disk as long as it likes. */
function main(): void {
  const port = parentPort;
  if (!port) throw new Error('This runs as a worker.');
  const { root, storage, limits } = workerData as WorkerData;
  const baseline = new Baseline(root, storage, limits);
  const going = new Map<number, AbortController>();

  const perform = async (request: Request, signal: AbortSignal): Promise<Answer['value']> => {
    switch (request.what) {
      case 'refresh':
        await baseline.refresh(request.excluded, signal);
        return undefined;
      case 'changes':
        return baseline.changes(request.since, signal, request.keepBytes);
      case 'dispose':
        await baseline.dispose();
        return undefined;
      case 'abort':
        going.get(request.id)?.abort();
        return undefined;
    }
  };

  port.on('message', (request: Request) => {
    const controller = new AbortController();
    if (request.what !== 'abort') going.set(request.id, controller);
    const answer = (value: Omit<Answer, 'id'>): void => {
      if (request.what === 'abort') return;
      going.delete(request.id);
      port.postMessage({ id: request.id, ...value } satisfies Answer);
      if (request.what === 'dispose') port.close();
    };
    perform(request, controller.signal).then(
      (value) => answer({ value }),
      (error: unknown) => answer({ failure: asError(error) }),
    );
  });
}

main();
