import type { Disposable } from '../base/disposable';
import type { Log } from '../base/log';
import type { ExecuteOptions } from '../kernel/execution';

/** One run in the kernel host, as long as its reply is awaited: it passes questions to who can answer. */
export class RemoteRun implements Disposable {
  private readonly open = new Map<number, AbortController>();

  constructor(
    readonly options: ExecuteOptions,
    private readonly answer: (question: number, text: string | null) => void,
    private readonly log: Log,
  ) {}

  ask(question: { readonly id: number; prompt: string; password: boolean }): void {
    const { id, prompt, password } = question;
    const { onInput } = this.options;
    if (onInput === undefined) return this.answer(id, null);
    const over = new AbortController();
    this.open.set(id, over);
    // Nobody to answer after all reads as end of file, as at a terminal that was closed.
    void Promise.resolve()
      .then(() => onInput({ prompt, password, signal: over.signal }))
      .catch((error: unknown) => {
        // Where the question is over, giving up is the answer.
        if (!over.signal.aborted) this.log.error('Who was to answer a question failed.', error);
        return null;
      })
      .then((text) => {
        if (this.open.delete(id)) this.answer(id, text);
      });
  }

  questionOver(id: number): void {
    const over = this.open.get(id);
    this.open.delete(id);
    over?.abort();
  }

  dispose(): void {
    for (const id of [...this.open.keys()]) this.questionOver(id);
  }
}
