import type { Clock } from '../../base/clock';
import type { SessionSnapshot } from '../../pool/types';
import type { Place, RunRequest } from '../runs';
import type { SessionName, SessionTarget } from '../sessions/target';
import type { AgentRuns } from './agentRuns';
import type { Chat } from './chat';
import type { ChatOwners } from './chatOwners';
import { confirmationOf, type Confirmation } from './confirmation';
import { ConfirmedPlaces, type PreparedCall } from './confirmedPlaces';
import { decodeReadOutput, decodeRunCode, type RunCodeInput } from './input';
import { pageOf, reportOf } from './report';
import { chooseSession, languageNamed, namedSessions, nameOfLanguage } from './sessionChoice';

export interface AgentToolsParts {
  readonly clock: Clock;
  readonly agentRuns: AgentRuns;
  readonly chats: Pick<ChatOwners, 'begin' | 'seen'>;
  /** Throws where nothing may run. */
  assertAllowed(): void;
  sessions(): readonly SessionSnapshot[];
  labelOf(session: SessionName): string;
  /** The session that a place uses, as far as that is known without resolving anything. */
  current(place: Place): SessionTarget | undefined;
  /** Where the developer's own code runs now. */
  developersPlace(): Place;
  labelOfPlace(place: Place): string;
  /** Learns what a chat is called by now. */
  learnName(chat: Chat): Promise<void>;
  /** What people call an owner. */
  ownerName(ownerId: string): string;
}

/** How one call is to be answered. */
interface CallOptions {
  /** Aborted when nobody wants the answer any more. */
  readonly signal: AbortSignal;
  /** Characters of output at most. */
  readonly limit: number;
}

interface Plan extends RunCodeInput {
  readonly to: RunRequest['to'];
  readonly label: string;
}

/** What the language-model tools do, apart from the editor. Input is what a model wrote: all of it is decoded first. */
export class AgentTools {
  private readonly confirmed = new ConfirmedPlaces<RunRequest['to']>();

  constructor(private readonly parts: AgentToolsParts) {}

  /** Throws where the code would not run, so that nobody is asked in vain. */
  confirm(call: PreparedCall): Confirmation {
    const { parts } = this;
    const { chat, input } = call;
    parts.assertAllowed();
    parts.chats.seen(chat);
    const wanted = this.plan(chat, input);
    const plan = this.at(wanted, this.confirmed.prepare(call, wanted.to));
    const id = languageNamed(plan.language) ?? plan.language;
    return confirmationOf({
      ...plan,
      language: { id, name: nameOfLanguage(id as 'python') },
      session: plan.label,
      holders: this.holdersOf(plan.to),
      ...(plan.label !== wanted.label && { meantNow: wanted.label }),
    });
  }

  /** Runs code and answers when it is over, or when the wait for it is. An abort while it waits stops the run. */
  async runCode(chat: Chat, input: unknown, { signal, limit }: CallOptions): Promise<string> {
    const { clock, agentRuns, chats } = this.parts;
    this.parts.assertAllowed();
    const confirmed = this.confirmed.take(chat, input);
    const wanted = this.plan(chat, input);
    const { code, timeoutMs, waitMs, to, label } = this.at(wanted, confirmed ?? wanted.to);
    const askedAt = clock.now();
    const answering = await chats.begin(chat);
    try {
      const { ownerId } = chat;
      await this.parts.learnName(chat);
      const stop = new AbortController();
      const run = agentRuns.start({
        code,
        to,
        by: { ownerId, origin: 'tool', name: this.parts.ownerName(ownerId) },
        signal: stop.signal,
        ...(timeoutMs !== undefined && { timeoutMs }),
      });
      await agentRuns.wait(run, waitMs - (clock.now() - askedAt), signal);
      if (signal.aborted) stop.abort();
      return `Session "${label}". ${reportOf(run, { limit, now: clock.now() })}`;
    } finally {
      answering.dispose();
    }
  }

  /** What was put out since the last answer, or from a position on; with a wait, when the run is over or the wait is. */
  async readOutput(chat: Chat, input: unknown, { signal, limit }: CallOptions): Promise<string> {
    const { clock, agentRuns, chats } = this.parts;
    const { handle, from, waitMs } = decodeReadOutput(input);
    const run = agentRuns.get(chat.ownerId, handle);
    const answering = await chats.begin(chat);
    try {
      await agentRuns.wait(run, waitMs, signal);
      const now = clock.now();
      return from === undefined ? reportOf(run, { limit, now }) : pageOf(run, { from, limit, now });
    } finally {
      answering.dispose();
    }
  }

  private plan(chat: Chat, input: unknown): Plan {
    const decoded = decodeRunCode(input);
    const { sessions, labelOf, developersPlace } = this.parts;
    const chosen = chooseSession(decoded, namedSessions(sessions(), chat.ownerId, labelOf));
    return this.at(decoded, chosen ?? developersPlace());
  }

  private at(input: RunCodeInput, to: RunRequest['to']): Plan {
    return { ...input, to, label: this.labelOf(to) };
  }

  private labelOf(to: RunRequest['to']): string {
    if ('sessionId' in to) return to.label;
    return this.parts.current(to)?.label ?? this.parts.labelOfPlace(to);
  }

  private holdersOf(to: RunRequest['to']): string[] {
    const target = 'sessionId' in to ? to : this.parts.current(to);
    const session = target && this.parts.sessions().find((each) => isSame(each, target));
    const owners = session?.owners.filter(({ kind }) => kind === 'explicit') ?? [];
    return owners.map(({ id }) => this.parts.ownerName(id));
  }
}

function isSame(a: SessionSnapshot, b: SessionTarget): boolean {
  return a.sessionId === b.sessionId && a.cwd === b.cwd && a.interpreter === b.interpreter;
}
