import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import { systemClock, type Clock } from '../../base/clock';
import type { DisposableStore } from '../../base/disposable';
import { lazy } from '../../base/lazy';
import type { Log } from '../../base/log';
import { ChatNames } from '../agent/chatNames';
import { nameOfExtension } from '../api';
import type { Configuration } from '../configuration';
import { Diagnostics } from '../diagnostics/diagnostics';
import { Failures } from '../failures';
import { logTo } from '../log';
import { createTranscript, type Transcript } from '../panel/transcript';
import type { NameOf } from '../sessions/owners';
import { SessionBook } from '../sessions/sessionBook';
import { SessionsModel } from '../sessions/sessionsModel';

/** What most areas of a window take some of. None of it runs anything. */
export interface Essentials {
  readonly clock: Clock;
  readonly log: Log;
  showLog(): void;
  /** This window, as the owner of what a person runs in it. */
  readonly ownerId: string;
  readonly diagnostics: Diagnostics;
  /** Tells the person, and remembers it for the diagnostics. */
  onFailure(error: unknown): void;
  readonly model: SessionsModel;
  readonly book: SessionBook;
  readonly transcript: Transcript;
  readonly chatNames: ChatNames;
  readonly nameOf: NameOf;
  /** Loads what parses settings at the first need. */
  configuration(): Promise<Configuration>;
}

export function createEssentials(options: {
  readonly store: DisposableStore;
  /** Of this extension. */
  readonly version: string;
  /** The process of the window's own kernel host. */
  hostPid(): number | undefined;
}): Essentials {
  const { store, version, hostPid } = options;
  const clock = systemClock;
  const channel = store.add(vscode.window.createOutputChannel('Holdfast', { log: true }));
  const log = logTo(channel);
  const showLog = (): void => channel.show();
  const failures = new Failures(log, showLog);
  // `vscode.env.sessionId` is the same everywhere when telemetry is off.
  const ownerId = `window:${randomUUID()}`;
  const model = store.add(new SessionsModel(clock));
  const diagnostics = new Diagnostics({ ownerId, version, model, clock, hostPid });
  const chatNames = new ChatNames();
  return {
    ...{ clock, log, showLog, ownerId, diagnostics, model, chatNames },
    onFailure(error) {
      diagnostics.failed(error);
      failures.tell(error);
    },
    book: new SessionBook(),
    transcript: store.add(createTranscript()),
    nameOf: (owner) => chatNames.nameOf(owner) ?? nameOfExtension(owner),
    configuration: lazy(async () => {
      const { Configuration } = await import('../configuration');
      return new Configuration(log);
    }),
  };
}
