import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import { systemClock } from './base/clock';
import { HoldfastError, messageOf } from './base/errors';
import { lazy } from './base/lazy';
import type { HoldfastApi } from './api';
import { registerAgent } from './editor/agent';
import { ChatNames } from './editor/agent/chatNames';
import { ChatOwners } from './editor/agent/chatOwners';
import { nameOfExtension, provideApi } from './editor/api';
import { BackgroundActions } from './editor/background/backgroundActions';
import { BackgroundWork } from './editor/background/backgroundWork';
import { registerCellLens } from './editor/background/cellLens';
import { registerBackgroundCommands } from './editor/background/commands';
import { tellOfEnd } from './editor/background/tellOfEnd';
import { registerCaptures } from './editor/capture';
import { registerCommands } from './editor/commands';
import { Diagnostics } from './editor/diagnostics/diagnostics';
import { StderrDocuments } from './editor/diagnostics/stderrDocuments';
import { Door } from './editor/door';
import { Failures } from './editor/failures';
import { followContexts, followLateOutput, followSessions } from './editor/follow';
import { leave } from './editor/leave';
import { logTo } from './editor/log';
import { openSetting } from './editor/openSetting';
import { registerPanel } from './editor/panel/panelView';
import { createTranscript } from './editor/panel/transcript';
import { placeOf, activePython } from './editor/place';
import { prompts } from './editor/prompts';
import type { Records } from './editor/records';
import { registerRecordCommands } from './editor/records/commands';
import { LeftOut } from './editor/records/leftOut';
import { RecordActions } from './editor/records/recordActions';
import type { RecordedRun } from './editor/records/shown';
import { Hosts } from './editor/reload/hosts';
import { HostsTree } from './editor/reload/hostsTree';
import { keepForNextWindow, keptKeys } from './editor/reload/keep';
import type { TakenUp } from './editor/reload/takeUp';
import { workspaceIdentity } from './editor/reload/window';
import { reveal } from './editor/reveal';
import { Runs } from './editor/runs';
import { FullPool } from './editor/sessions/fullPool';
import { mayEvict, ownerInWords, ownerKind } from './editor/sessions/owners';
import { pickToFree } from './editor/sessions/pickSession';
import { SessionActions } from './editor/sessions/sessionActions';
import { SessionBook } from './editor/sessions/sessionBook';
import { SessionsModel } from './editor/sessions/sessionsModel';
import { SessionsTree } from './editor/sessions/sessionsTree';
import { offerMoreThanInterrupts } from './editor/sessions/unheeded';
import { sessionKeyOf, targetOfKey, type SessionTarget } from './editor/sessions/target';
import { StatusBar } from './editor/statusBar';
import { assertTrusted } from './editor/trust';
import type { Adoption, KernelHosting } from './hosting';
import type { KernelPool } from './pool/types';
import { createAdmission } from './runner/admission';
import { admitted } from './runner/admitted';

// The editor calls `deactivate` with nothing in hand.
let hosting: KernelHosting | undefined;
let leaveAll: (() => Promise<void>) | undefined;
let backgroundWork: BackgroundWork | undefined;

/**
 * Builds the parts and wires them. What runs code (the pool, the kernel host's client, the search for an interpreter) is
 * loaded at the first run, so that a window that only opens a Python file pays for none of it.
 */
export function activate(context: vscode.ExtensionContext): HoldfastApi {
  const { subscriptions, extensionUri, extension, storageUri, globalStorageUri, workspaceState } =
    context;
  const keep = <T extends vscode.Disposable>(part: T): T => {
    subscriptions.push(part);
    return part;
  };
  const clock = systemClock;
  const channel = keep(vscode.window.createOutputChannel('Holdfast', { log: true }));
  const log = logTo(channel);
  const failures = new Failures(log, () => channel.show());
  const onFailure = (error: unknown): void => {
    diagnostics.failed(error);
    failures.tell(error);
  };
  // `vscode.env.sessionId` is the same everywhere when telemetry is off.
  const ownerId = `window:${randomUUID()}`;

  const model = keep(new SessionsModel(clock));
  const diagnostics = new Diagnostics({
    ownerId,
    version: (extension.packageJSON as { version: string }).version,
    model,
    clock,
    hostPid: () => hosting?.hostPid,
  });
  const stderrs = keep(new StderrDocuments());
  const book = new SessionBook();
  const transcript = keep(createTranscript());

  const chatNames = new ChatNames();
  const nameOf = (owner: string): string | undefined =>
    chatNames.nameOf(owner) ?? nameOfExtension(owner);

  const configuration = lazy(async () => {
    const { Configuration } = await import('./editor/configuration');
    return new Configuration(log);
  });
  // What captures nothing is refused by the command, so that the setting is read there alone.
  const admission = createAdmission({ captureEnabled: true, log });
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
  const workspace = workspaceIdentity(randomUUID);
  const leftOut = new LeftOut(workspaceState);
  let usesRecords = false;
  const records = lazy(async (): Promise<Records> => {
    usesRecords = true;
    const { createRecords } = await import('./editor/records');
    const settings = await configuration();
    return createRecords({
      storage: globalStorageUri.fsPath,
      workspace: workspace.startsWith('empty:') ? undefined : workspace,
      writer: randomUUID().replaceAll('-', ''),
      transcript,
      leftOut,
      mayKeep: async (cwd) => settings.get('transcripts.keep', vscode.Uri.file(cwd)),
      log,
    });
  });
  const record = (run: RecordedRun): void =>
    void records()
      .then((all) => all.record(run))
      .catch(onFailure);
  const hosts = keep(new Hosts({ workspace, log, clock, ownPid: () => hosting?.hostPid }));
  const kernelHost = lazy(async () => {
    const { createKernelHosting } = await import('./hosting');
    const settings = await configuration();
    const path = (name: string): string => vscode.Uri.joinPath(extensionUri, name).fsPath;
    const graceMs = (): number => settings.get('gracePeriodSeconds') * 1_000;
    const host = createKernelHosting({
      hostScript: path('dist/kernelHost.js'),
      runnersDir: path('media/runners'),
      workspace,
      graceMs: graceMs(),
      log,
    });
    host.setLimits(settings.forKernels());
    keep(
      settings.onDidChange(() => {
        host.setGrace(graceMs());
        host.setLimits(settings.forKernels());
      }),
    );
    hosting = host;
    return host;
  });
  /** What the window before this one has left, if it can be told which window that was. */
  const takenUp = lazy(async (): Promise<TakenUp> => {
    if (!vscode.workspace.isTrusted) return {};
    const found = await hosts.toTakeUpSoon(2_000);
    if (!found) return {};
    let adoption: Adoption | undefined;
    try {
      const [{ takeUp }, host] = await Promise.all([
        import('./editor/reload/takeUp'),
        kernelHost(),
      ]);
      adoption = await host.adopt(found);
      // What was another's is this window's now.
      hosts.look().catch(onFailure);
      const { preludes } = await python();
      const otherPlaces = await background.takeUp(adoption);
      return takeUp(adoption, {
        ...{ ownerId, transcript, book, runs, preludes, otherPlaces, record, log },
      });
    } catch (error) {
      log.warn(`The sessions of the window before are not taken up: ${messageOf(error)}`);
      // Nobody holds what runs there, and nobody would find it.
      adoption?.stopOthers([]);
      for (const key of adoption?.kept.keys() ?? []) hosting?.keep(key, undefined);
      return {};
    }
  });
  let madePool: KernelPool | undefined;
  const pool = lazy(async () => {
    const [{ createKernelPool }, { startKernel }, host, before] = await Promise.all([
      import('./pool/pool'),
      import('./editor/python/startPython'),
      kernelHost(),
      takenUp(),
    ]);
    const backend = await python();
    const settings = await configuration();
    // From here on the host is told what a window after this one has to know, each thing before it takes effect.
    keepForNextWindow({ host, ownerId, book });
    const created = createKernelPool({
      ...settings.forPool(),
      ...before,
      onRecord: (id, record) => host.keep(keptKeys.session(id), record),
      startKernel: (request) => startKernel(request, backend, host),
      preludeContent: (session) => backend.preludes.contentOf(session),
      ownerKind,
      mayEvict,
      clock,
      log,
    });
    keep(settings.onDidChange(() => created.configure(settings.forPool())));
    madePool = created;
    model.attach(created);
    keep(diagnostics.follow(created));
    keep(followLateOutput(created, model, transcript));
    return created;
  });

  const chats: ChatOwners = keep(
    new ChatOwners({
      clock,
      log,
      gracePeriodMs: async () => (await configuration()).get('chat.gracePeriodMinutes') * 60_000,
      holds: (owner) =>
        model.sessions().some(({ owners }) => owners.some(({ id }) => id === owner)),
      close: (owner) => door.close(owner),
      flush: (owner) => door.flush(owner),
    }),
  );
  const door: Door = new Door({
    execute: admitted(admission, async (code, options) => (await pool()).execute(code, options)),
    disposers: [
      async (owner) => madePool?.disposeOwner(owner),
      (owner) => background.disposeOwner(owner),
    ],
    isStreaming: (owner) => chats.isStreaming(owner),
    record,
    log,
  });
  leaveAll = () =>
    leave({
      flushDoor: () => door.flush(),
      flushRecords: async () => (usesRecords ? (await records()).flush() : undefined),
      leaveHost: async () => hosting?.leave(),
      log,
    });
  const showPanelOnce = lazy(() => void panel.show().catch(onFailure));
  const runs = keep(
    new Runs({
      ownerId,
      clock,
      transcript,
      door,
      onFailure,
      newId: randomUUID,
      assertAllowed: assertTrusted,
      resolve: async (place) => (await python()).resolve(place),
      mode: async () => (await configuration()).get('kernelMode'),
      onBegin: showPanelOnce,
    }),
  );
  const background: BackgroundWork = keep(
    new BackgroundWork({
      ownerId,
      clock,
      door,
      newId: randomUUID,
      assertAllowed: assertTrusted,
      ready: pool,
      async load(onChange) {
        const [{ BackgroundRunsHere }, { startKernel }, backend, settings] = await Promise.all([
          import('./editor/background/backgroundRunsHere'),
          import('./editor/python/startPython'),
          python(),
          configuration(),
        ]);
        const storage = storageUri ?? globalStorageUri;
        return new BackgroundRunsHere({
          ...{ ownerId, clock, log, transcript, door, newId: randomUUID, onChange, onFailure },
          folder: vscode.Uri.joinPath(storage, 'background').fsPath,
          startTimeoutMs: () => settings.forPool().startTimeoutMs,
          maxOutputBytes: () => settings.forPool().maxOutputBytes,
          enterLease: () => admission.background(),
          keep: (key, value) => hosting?.keep(key, value),
          onEnd: (run) => tellOfEnd(run, ownerId, settings.get('background.notify'), prompts),
          startKernel: async (request) => startKernel(request, backend, await kernelHost()),
        });
      },
    }),
  );
  backgroundWork = background;
  const stopBackground = (): Promise<void> => background.disposeOwner(ownerId);
  const actions = new SessionActions({
    ...{ ownerId, model, book, runs, transcript, prompts, pool, stopBackground, nameOf },
  });
  const backgroundActions = new BackgroundActions({ work: background, prompts });
  keep(offerMoreThanInterrupts({ model, book, runs, actions, prompts, onFailure }));
  const fullPool = keep(
    new FullPool({
      ...{ ownerId, model, book, actions, prompts, clock, onFailure },
      pick: (candidates) => pickToFree(candidates, (session) => book.labelOf(session)),
      changeLimit: () => openSetting('holdfast.capacity'),
    }),
  );
  const sessionOfKey = (key: string): SessionTarget | undefined => {
    const heads = transcript.sessions();
    const earlier = heads.find((head) => head.key === key && head.state === 'earlier');
    return book.withKey(key) ?? (earlier && targetOfKey(key, earlier.label));
  };
  const panel = keep(
    registerPanel({
      transcript,
      extensionUri,
      log,
      whyNoInput: (key) => background.withKey(key) && 'A background run has its kernel to itself.',
      runKey: process.platform === 'darwin' ? '⌥⌘Enter' : 'Ctrl+Alt+Enter',
      actions: {
        run(code, sessionKey) {
          const known = sessionKey === undefined ? undefined : sessionOfKey(sessionKey);
          return runs.run({ code, to: known ?? placeOf(activePython()?.document) });
        },
        interrupt(sessionKey) {
          const run = background.withKey(sessionKey);
          return run ? backgroundActions.interrupt(run.executionId) : actions.interrupt(sessionKey);
        },
        async showHelpers(sessionKey) {
          await vscode.commands.executeCommand('holdfast.showHelpers', sessionKey);
        },
        reveal,
        opened: async () => (await records()).list(),
        shown: async (sessionKey) => (await records()).load(sessionKey),
        cleared: async (sessionKey) => (await records()).clear(sessionKey),
      },
    }),
  );
  if (!vscode.workspace.isTrusted) {
    panel.disableInput('Nothing runs until this workspace is trusted.');
    keep(vscode.workspace.onDidGrantWorkspaceTrust(() => panel.disableInput(undefined)));
  }
  keep(followSessions(model, book, runs, transcript, background));
  keep(followContexts(model, runs, background));
  keep(new StatusBar(model, book, runs, clock));
  keep(
    new SessionsTree(
      model,
      book,
      {
        ownerId,
        labelOf: (session) => book.labelOf(session),
        nameOf,
        firstLineOf: (executionId) => runs.get(executionId)?.firstLine,
        inOwnKernels: () => runs.inOwnKernels(),
        isLeftOut: (session) => leftOut.has(sessionKeyOf(session)),
        backgroundRuns: () =>
          background
            .list()
            .map((run) => ({ ...run, unheeded: background.isUnheeded(run.executionId) })),
        letsGoAt: (owner) => chats.letsGoAt(owner),
      },
      clock,
      runs.onDidChange,
      background.onDidChange,
      leftOut.onDidChange,
      chats.onDidChange,
      chatNames.onDidChange,
    ),
  );
  const recordActions = new RecordActions({ transcript, leftOut, prompts, records });
  keep(registerRecordCommands({ actions: recordActions, leftOut, model, book, onFailure }));
  keep(
    registerBackgroundCommands({
      ...{ work: background, actions: backgroundActions, panel, onFailure },
      onBegin: showPanelOnce,
      resolve: async (place) => (await python()).resolve(place),
    }),
  );
  keep(registerCellLens(async () => (await configuration()).get('background.codeLens')));
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
      async showStderr(session) {
        const text = await (await pool()).stderr(session.id);
        await stderrs.show(session, book.labelOf(session), text);
      },
      copyDiagnostics: () => diagnostics.copy(),
    }),
  );
  const storage = storageUri ?? globalStorageUri;
  const script = vscode.Uri.joinPath(extensionUri, 'dist/captureWorker.js').fsPath;
  keep(
    registerCaptures({
      ...{ admission, runs, model, storage, script, log, configuration, onFailure },
    }),
  );
  keep(
    registerAgent({
      ...{ clock, log, runs, chats, names: chatNames, model, book, configuration },
      storage: context,
      ownerName: (owner) => ownerInWords({ id: owner, kind: 'explicit' }, ownerId, nameOf),
    }),
  );
  const clients = keep(
    provideApi({
      ...{ admission, runs, model, door, book, log, pool, background },
      resolve: async (place) => (await python()).resolve(place),
    }),
  );
  keep(new HostsTree(hosts));
  const onHost = (name: string, act: (pid: number) => Promise<void>): void => {
    keep(
      vscode.commands.registerCommand(name, (row: unknown) =>
        typeof row === 'number' ? act(row).catch(onFailure) : undefined,
      ),
    );
  };
  onHost('holdfast.stopHost', (pid) => hosts.dismiss(pid));
  onHost('holdfast.adoptHost', async (pid) => {
    // A pool takes over what there is only when it is made.
    if (madePool !== undefined) {
      throw new HoldfastError(
        'bad_input',
        'This window has sessions of its own already. Stop them, reload the window, and adopt the others then.',
      );
    }
    if (hosts.choose(pid)) await pool();
    await hosts.look();
  });
  // After the activation, which this must not hold up: a window that was reloaded goes on where it was.
  if (vscode.workspace.isTrusted) {
    const goOn = async (): Promise<void> => void ((await hosts.toTakeUpSoon()) && (await pool()));
    clock.after(0, () => void goOn().catch(onFailure));
  }
  return clients.api;
}

/** Stops no kernel: a reload and a close look alike here. The kernel host knows what to do about a window that leaves. */
export async function deactivate(): Promise<void> {
  backgroundWork?.leave();
  await leaveAll?.();
}
