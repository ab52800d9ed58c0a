import type {
  BackgroundRuns,
  BeforeRunHook,
  HeldSession,
  HoldfastClient,
  RunOptions,
  RunResult,
  SessionInfo,
  SessionPlace,
} from '../../api';
import { DisposableStore, type Disposable } from '../../base/disposable';
import { HoldfastError, messageOf } from '../../base/errors';
import type { Log } from '../../base/log';
import type { KernelOutput } from '../../kernel/output';
import type { KernelPool } from '../../pool/types';
import type { Admission } from '../../runner/admission';
import type { BeforeRun } from '../../runner/hooks';
import type { Door } from '../door';
import type { Runs } from '../runs';
import type { SessionsModel } from '../sessions/sessionsModel';
import { sessionKeyOf } from '../sessions/target';
import type { BackgroundPort } from './backgroundPort';
import { clientBackground } from './clientBackground';
import { asEditorEvent } from './event';
import { sessionInfo, targetOf, type PlaceParts } from './sessions';

/** What clients act on. */
export interface ClientParts extends PlaceParts {
  readonly model: Pick<SessionsModel, 'sessions' | 'withId' | 'withKey' | 'onDidChange'>;
  readonly runs: Pick<Runs, 'perform'>;
  readonly door: Pick<Door, 'addHook' | 'close'>;
  readonly admission: Pick<Admission, 'externalMutation'>;
  readonly background: BackgroundPort;
  readonly log: Pick<Log, 'error' | 'warn'>;
  /** Throws where nothing may run. */
  assertAllowed(): void;
  pool(): Promise<Pick<KernelPool, 'warm' | 'releaseOwner'>>;
}

/** Who a client stands for. */
interface ClientOf {
  readonly ownerId: string;
  /** For people. */
  readonly name: string;
  /** The client has ended. */
  onDispose(): void;
}

/** One extension's face of Holdfast. What comes in is parsed, whatever the types of the caller say. */
export class Client implements HoldfastClient {
  readonly background: BackgroundRuns;
  readonly onDidChangeSessions;
  private readonly store = new DisposableStore();
  /** Grows with each letting go: a hold that was asked for before is not wanted any more. */
  private releases = 0;

  constructor(
    private readonly who: ClientOf,
    private readonly parts: ClientParts,
  ) {
    const { ownerId, name } = who;
    this.onDidChangeSessions = asEditorEvent<void>(parts.model.onDidChange, name, this.store);
    this.background = clientBackground({
      ownerId,
      name,
      port: parts.background,
      store: this.store,
      assertOpen: () => this.assertOpen(),
      resolve: (cwd) => targetOf({ cwd }, ownerId, parts),
    });
  }

  get ownerId(): string {
    return this.who.ownerId;
  }

  async run(code: string, options?: RunOptions): Promise<RunResult> {
    this.assertOpen();
    const { parse } = await import('./input');
    const { ownerId, name } = this.who;
    const checked = parse.code(code, name);
    const parsed = parse.run(options, name);
    const to = await targetOf(parsed, ownerId, this.parts);
    this.assertOpen();
    const { timeoutMs, signal, excludeFromContext, onOutput } = parsed;
    return this.parts.runs.perform({
      code: checked,
      to,
      by: { ownerId, origin: 'api', name },
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(signal && { signal }),
      ...(excludeFromContext !== undefined && { excludeFromContext }),
      ...(onOutput && { onOutput: (output) => this.tell(onOutput, output) }),
    });
  }

  async hold(place?: SessionPlace): Promise<HeldSession> {
    this.assertOpen();
    const { parse } = await import('./input');
    const { ownerId, name } = this.who;
    const { releases } = this;
    const target = await targetOf(parse.place(place, name), ownerId, this.parts);
    const pool = await this.parts.pool();
    this.assertOpen();
    const { interpreter, sessionId, cwd } = target;
    const warm = await pool.warm({
      ...{ cwd, sessionId, ownerId },
      ...(interpreter !== undefined && { interpreter }),
    });
    if (!warm.ok) throw new HoldfastError('start_failed', warm.reason);
    const session = this.parts.model.withKey(sessionKeyOf(target));
    if (!session) throw new HoldfastError('kernel_not_found', 'The session is gone already.');
    const release = once(() => pool.releaseOwner(session.id, ownerId));
    if (releases !== this.releases) {
      await release();
      throw new HoldfastError('closed', `${name} let go of all that it holds meanwhile.`);
    }
    return {
      session: sessionInfo(session, ownerId, this.parts.book),
      release,
      dispose: () => this.inBackground(release()),
    };
  }

  async release(): Promise<void> {
    this.releases++;
    await this.parts.door.close(this.ownerId);
  }

  sessions(): readonly SessionInfo[] {
    const { model, book } = this.parts;
    return model.sessions().map((session) => sessionInfo(session, this.ownerId, book));
  }

  addBeforeRunHook(hook: BeforeRunHook): Disposable {
    this.assertOpen();
    const { name } = this.who;
    this.assertFunction(hook, 'before-run hook');
    return this.store.add(
      this.parts.door.addHook(async (run) => {
        const answer = await askHook(hook, run, name);
        const { parse } = await import('./input');
        return parse.answer(answer, name);
      }),
    );
  }

  async externalMutation<T>(edit: () => T | PromiseLike<T>): Promise<T> {
    this.assertOpen();
    this.assertFunction(edit, 'edit');
    return this.parts.admission.externalMutation(edit);
  }

  /** Lets go of nothing: VS Code disposes of subscriptions before a reload too, over which sessions stay. */
  dispose(): void {
    if (this.store.isDisposed) return;
    this.store.dispose();
    this.who.onDispose();
  }

  private assertFunction(value: unknown, what: string): void {
    if (typeof value === 'function') return;
    throw new HoldfastError('bad_input', `${this.who.name}: its ${what} is no function.`);
  }

  private assertOpen(): void {
    this.parts.assertAllowed();
    if (!this.store.isDisposed) return;
    throw new HoldfastError('closed', `What ${this.who.name} had of Holdfast is disposed.`);
  }

  /** A listener that throws is its extension's trouble, and not the run's. */
  private tell(onOutput: NonNullable<RunOptions['onOutput']>, output: KernelOutput): void {
    try {
      onOutput(output);
    } catch (error) {
      this.parts.log.warn(`${this.who.name} could not take output: ${messageOf(error)}`);
    }
  }

  private inBackground(work: Promise<unknown>): void {
    work.catch((error: unknown) => {
      this.parts.log.error(`Not all that ${this.who.name} held could be let go of.`, error);
    });
  }
}

async function askHook(hook: BeforeRunHook, run: BeforeRun, name: string): Promise<unknown> {
  try {
    return await hook(run);
  } catch (error) {
    throw new HoldfastError(
      'hook_failed',
      `${name} kept this run from happening: ${messageOf(error)}`,
      { cause: error },
    );
  }
}

function once(act: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => (done ??= act());
}
