import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import { systemClock } from './base/clock';
import { lazy } from './base/lazy';
import { registerCommands } from './editor/commands';
import { Failures } from './editor/failures';
import { followContexts, followLateOutput, followSessions } from './editor/follow';
import { logTo } from './editor/log';
import { openSetting } from './editor/openSetting';
import { registerPanel } from './editor/panel/panelView';
import { createTranscript } from './editor/panel/transcript';
import { placeOf, activePython } from './editor/place';
import { prompts } from './editor/prompts';
import { reveal } from './editor/reveal';
import { Runs } from './editor/runs';
import { FullPool } from './editor/sessions/fullPool';
import { mayEvict, ownerKind } from './editor/sessions/owners';
import { pickToFree } from './editor/sessions/pickSession';
import { SessionActions } from './editor/sessions/sessionActions';
import { SessionBook } from './editor/sessions/sessionBook';
import { SessionsModel } from './editor/sessions/sessionsModel';
import { SessionsTree } from './editor/sessions/sessionsTree';
import { offerMoreThanInterrupts } from './editor/sessions/unheeded';
import { StatusBar } from './editor/statusBar';
import { assertTrusted } from './editor/trust';
import type { KernelHosting } from './hosting';

// The editor calls `deactivate` with nothing in hand.
let hosting: KernelHosting | undefined;

/**
 * Builds the parts and wires them. What runs code (the pool, the kernel host's client, the search for an interpreter) is
 * loaded at the first run, so that a window that only opens a Python file pays for none of it.
 */
export function activate({ subscriptions, extensionUri }: vscode.ExtensionContext): void {
  const keep = <T extends vscode.Disposable>(part: T): T => {
    subscriptions.push(part);
    return part;
  };
  const clock = systemClock;
  const channel = keep(vscode.window.createOutputChannel('Holdfast', { log: true }));
  const log = logTo(channel);
  const failures = new Failures(log, () => channel.show());
  const onFailure = (error: unknown): void => failures.tell(error);
  // `vscode.env.sessionId` is the same everywhere when telemetry is off.
  const ownerId = `window:${randomUUID()}`;

  const model = keep(new SessionsModel(clock));
  const book = new SessionBook();
  const transcript = keep(createTranscript());

  const configuration = lazy(async () => {
    const { Configuration } = await import('./editor/configuration');
    return new Configuration(log);
  });
  const python = lazy(async () => {
    const { createPython } = await import('./editor/python');
    return keep(
      createPython({
        configuration: await configuration(),
        book,
        reportTo: (sessionKey) => ({
          output: (output) => transcript.sessionOutput(sessionKey, output),
          note: (text) => transcript.note(sessionKey, text),
        }),
        log,
      }),
    );
  });
  const pool = lazy(async () => {
    const [{ createKernelPool }, { createKernelHosting }, { startKernel }] = await Promise.all([
      import('./pool/pool'),
      import('./hosting'),
      import('./editor/python/startPython'),
    ]);
    const { interpreters, preludes } = await python();
    const settings = await configuration();
    const path = (name: string): string => vscode.Uri.joinPath(extensionUri, name).fsPath;
    const host = createKernelHosting({
      hostScript: path('dist/kernelHost.js'),
      runnersDir: path('media/runners'),
      log,
    });
    hosting = host;
    const created = createKernelPool({
      ...settings.forPool(),
      startKernel: (request) => startKernel(request, interpreters, preludes, host),
      preludeContent: (session) => preludes.contentOf(session),
      ownerKind,
      mayEvict,
      clock,
      log,
    });
    keep(settings.onDidChange(() => created.configure(settings.forPool())));
    model.attach(created);
    keep(followLateOutput(created, model, transcript));
    return created;
  });

  const runs = keep(
    new Runs({
      ownerId,
      clock,
      transcript,
      pool,
      onFailure,
      newId: randomUUID,
      assertAllowed: assertTrusted,
      resolve: async (place) => (await python()).resolve(place),
      mode: async () => (await configuration()).get('kernelMode'),
      onBegin: lazy(() => void panel.show().catch(onFailure)),
    }),
  );
  const actions = new SessionActions({ ownerId, model, book, runs, transcript, prompts, pool });
  keep(offerMoreThanInterrupts({ model, book, runs, actions, prompts, onFailure }));
  const fullPool = keep(
    new FullPool({
      ...{ ownerId, model, book, actions, prompts, clock, onFailure },
      pick: (candidates) => pickToFree(candidates, (session) => book.labelOf(session)),
      changeLimit: () => openSetting('holdfast.capacity'),
    }),
  );
  const panel = keep(
    registerPanel({
      transcript,
      extensionUri,
      log,
      runKey: process.platform === 'darwin' ? '⌥⌘Enter' : 'Ctrl+Alt+Enter',
      actions: {
        run(code, sessionKey) {
          const known = sessionKey === undefined ? undefined : book.withKey(sessionKey);
          return runs.run({ code, to: known ?? placeOf(activePython()?.document) });
        },
        interrupt: (sessionKey) => actions.interrupt(sessionKey),
        async showHelpers(sessionKey) {
          await vscode.commands.executeCommand('holdfast.showHelpers', sessionKey);
        },
        reveal,
      },
    }),
  );
  if (!vscode.workspace.isTrusted) {
    panel.disableInput('Nothing runs until this workspace is trusted.');
    keep(vscode.workspace.onDidGrantWorkspaceTrust(() => panel.disableInput(undefined)));
  }
  keep(followSessions(model, book, runs, transcript));
  keep(followContexts(model, runs));
  keep(new StatusBar(model, book, runs, clock));
  keep(
    new SessionsTree(
      model,
      book,
      {
        ownerId,
        labelOf: (session) => book.labelOf(session),
        firstLineOf: (executionId) => runs.get(executionId)?.firstLine,
        inOwnKernels: () => runs.inOwnKernels(),
      },
      clock,
      runs.onDidChange,
    ),
  );
  keep(
    registerCommands({
      ownerId,
      runs,
      model,
      book,
      actions,
      fullPool,
      panel,
      pool,
      onFailure,
      resolve: async (place) => (await python()).resolve(place),
      interpreters: async () => (await python()).interpreters,
      showLog: () => channel.show(),
    }),
  );
}

/** Stops no kernel: a reload and a close look alike here. The kernel host knows what to do about a window that leaves. */
export async function deactivate(): Promise<void> {
  await hosting?.leave();
}
