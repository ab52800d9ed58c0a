import { Worker } from 'node:worker_threads';
import { deferred, type Deferred } from '../../base/deferred';
import type { FolderChanges } from './baseline';
import type { Answer, Request, WorkerData } from './workerMessages';

type Wanted = Request extends infer R ? (R extends unknown ? Omit<R, 'id'> : never) : never;

/** A `Baseline` on a thread of its own, which starts with the first request: a slow disk holds up nobody else. */
export class BaselineThread {
  private worker: Worker | undefined;
  private readonly waiting = new Map<number, Deferred<FolderChanges | undefined>>();
  private lastId = 0;

  constructor(
    /** The bundle of `worker.ts`. */
    private readonly script: string,
    private readonly parts: WorkerData,
  ) {}

  /** As `Baseline.refresh`. Aborted, it rejects with the signal's reason. */
  async refresh(excluded: readonly string[], signal?: AbortSignal): Promise<void> {
    await this.ask({ what: 'refresh', excluded }, signal);
  }

  /** As `Baseline.changes`. */
  async changes(since: number, signal?: AbortSignal, keepBytes?: number): Promise<FolderChanges> {
    const changes = await this.ask({ what: 'changes', since, keepBytes }, signal);
    return changes ?? { changes: [], notes: [] };
  }

  async dispose(): Promise<void> {
    if (this.worker) await this.ask({ what: 'dispose' });
  }

  private async ask(wanted: Wanted, signal?: AbortSignal): Promise<FolderChanges | undefined> {
    signal?.throwIfAborted();
    const worker = (this.worker ??= this.start());
    const id = ++this.lastId;
    const answer = deferred<FolderChanges | undefined>();
    this.waiting.set(id, answer);
    const abort = (): void => worker.postMessage({ id, what: 'abort' } satisfies Request);
    signal?.addEventListener('abort', abort, { once: true });
    worker.postMessage({ id, ...wanted });
    try {
      return await answer.promise;
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  private start(): Worker {
    const worker = new Worker(this.script, { workerData: this.parts, execArgv: [], env: {} });
    worker.unref();
    worker.on('message', ({ id, value, failure }: Answer) => {
      const answer = this.waiting.get(id);
      this.waiting.delete(id);
      if (failure) answer?.reject(failure);
      else answer?.resolve(value);
    });
    const gone = (error: Error): void => {
      if (this.worker === worker) this.worker = undefined;
      for (const answer of this.waiting.values()) answer.reject(error);
      this.waiting.clear();
    };
    worker.once('error', gone);
    worker.once('exit', () => gone(new Error('The thread of the capture has ended.')));
    return worker;
  }
}
