import type { Disposable } from '../../base/disposable';
import type { SessionSnapshot } from '../../pool/types';
import type { Prompts } from '../prompts';
import type { Runs } from '../runs';
import type { SessionActions } from './sessionActions';
import type { SessionBook } from './sessionBook';
import type { SessionsModel } from './sessionsModel';

interface UnheededParts {
  readonly model: SessionsModel;
  readonly book: SessionBook;
  readonly runs: Pick<Runs, 'get'>;
  readonly actions: Pick<SessionActions, 'interruptRun' | 'kill'>;
  readonly prompts: Prompts;
  onFailure(error: unknown): void;
}

/**
 * An interrupt is a request: whoever swallows it runs on, and then a person wants to know what else there is. Offers it
 * once for each interrupt, whatever the person makes of it.
 */
export function offerMoreThanInterrupts(parts: UnheededParts): Disposable {
  const { model, runs, onFailure } = parts;
  let offered = new Set<string>();
  return model.onDidChange(() => {
    const unheeded = new Map<string, { session: SessionSnapshot; executionId: string }>();
    for (const session of model.sessions()) {
      if (session.state.kind !== 'busy') continue;
      const { id, unheeded: isUnheeded, interruptedAt } = session.state.execution;
      if (isUnheeded && runs.get(id))
        unheeded.set(`${id} ${interruptedAt}`, { session, executionId: id });
    }
    const fresh = [...unheeded].filter(([interrupt]) => !offered.has(interrupt));
    offered = new Set(unheeded.keys());
    for (const [, { session, executionId }] of fresh)
      offerMore(parts, session, executionId).catch(onFailure);
  });
}

async function offerMore(
  { model, book, actions, prompts }: UnheededParts,
  session: SessionSnapshot,
  executionId: string,
): Promise<void> {
  const [again, kill] = ['Interrupt Again', 'Kill'];
  const question = `The run in ${book.labelOf(session)} has not heeded the interrupt.`;
  const chosen = await prompts.warn(question, again, kill);
  const state = model.withId(session.id)?.state;
  // The answer may come when the run is long over: the next one must not be hit.
  if (state?.kind !== 'busy' || state.execution.id !== executionId) return;
  if (chosen === again) await actions.interruptRun(session, executionId);
  if (chosen === kill) await actions.kill(session);
}
