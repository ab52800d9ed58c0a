import type { InputRequest } from '../../kernel/execution';
import type { Ask } from '../../webview/protocol';

interface Question {
  readonly sessionKey: string;
  /** Id of the transcript entry that asks. */
  readonly entry: number;
  readonly request: InputRequest;
}

interface OpenQuestion extends Question {
  readonly settle: (text: string | null) => void;
}

/** Questions of kernels that wait for a person. A session shows one at a time, the oldest first. */
export class Questions {
  private readonly open = new Map<number, OpenQuestion>();
  private nextId = 1;

  get size(): number {
    return this.open.size;
  }

  /** Null when nobody wants the answer any more. `onSettled` comes once, after the question has closed. */
  ask(question: Question, onSettled: (text: string | null) => void): Promise<string | null> {
    const { signal } = question.request;
    if (signal.aborted) return Promise.resolve(null);
    const id = this.nextId++;
    return new Promise((resolve) => {
      const giveUp = (): void => settle(null);
      const settle = (text: string | null): void => {
        if (!this.open.delete(id)) return;
        signal.removeEventListener('abort', giveUp);
        onSettled(text);
        resolve(text);
      };
      this.open.set(id, { ...question, settle });
      signal.addEventListener('abort', giveUp);
    });
  }

  answer(id: number, text: string | null): void {
    this.open.get(id)?.settle(text);
  }

  first(sessionKey: string): Ask | null {
    for (const [id, { entry, request, ...question }] of this.open) {
      if (question.sessionKey !== sessionKey) continue;
      return { id, entry, prompt: request.prompt, password: request.password };
    }
    return null;
  }

  endAll(): void {
    for (const { settle } of [...this.open.values()]) settle(null);
  }
}
