import type { BackgroundOptions, BackgroundRun, BackgroundRuns } from '../../api';
import { HoldfastError } from '../../base/errors';
import type { BackgroundSnapshot } from '../../runner/backgroundTypes';
import type { DisposableStore } from '../../base/disposable';
import type { SessionTarget } from '../sessions/target';
import type { BackgroundPort } from './backgroundPort';
import { asEditorEvent } from './event';

interface ClientBackgroundParts {
  readonly ownerId: string;
  readonly name: string;
  readonly port: BackgroundPort;
  /** What goes with the client. */
  readonly store: DisposableStore;
  /** Throws where the client may do nothing. */
  assertOpen(): void;
  resolve(cwd: string | undefined): Promise<SessionTarget>;
}

/** The background runs of one extension. */
export function clientBackground(parts: ClientBackgroundParts): BackgroundRuns {
  const { ownerId, name, port } = parts;
  const own = (executionId: string): string => {
    parts.assertOpen();
    if (port.peek(executionId).request.ownerId === ownerId) return executionId;
    throw new HoldfastError('run_not_found', `There is no background run ${executionId}.`);
  };
  return {
    async launch(code: unknown, options?: BackgroundOptions) {
      parts.assertOpen();
      const { parse } = await import('./input');
      const checked = parse.code(code, name);
      const { cwd, label, excludeFromContext } = parse.background(options, name);
      const target = await parts.resolve(cwd);
      parts.assertOpen();
      const { executionId } = await port.launch({
        code: checked,
        owner: ownerId,
        ownerName: name,
        origin: 'api',
        language: target.language,
        cwd: target.cwd,
        interpreter: target.interpreter,
        ...(label !== undefined && { label }),
        ...(excludeFromContext !== undefined && { excludeFromContext }),
      });
      return { executionId };
    },
    list: () => port.list().flatMap((run) => (run.request.ownerId === ownerId ? shown(run) : [])),
    peek: (executionId) => shown(port.peek(own(executionId))),
    interrupt: async (executionId) => shown(await port.interrupt(own(executionId))),
    kill: async (executionId) => shown(await port.kill(own(executionId))),
    onDidChange: asEditorEvent(port.onDidChange, name, parts.store),
  };
}

function shown(run: BackgroundSnapshot): BackgroundRun {
  const { executionId, status, done, stdout, error, startedAt, endedAt, artifact } = run;
  const kept = artifact === undefined ? {} : { artifact };
  return { executionId, status, done, stdout, error, startedAt, endedAt, ...kept };
}
