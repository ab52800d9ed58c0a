import { describe, expect, it } from 'vitest';
import { deferred } from '../../../src/base/deferred';
import { Emitter } from '../../../src/base/event';
import { silentLog } from '../../../src/base/log';
import type { BeforeRunHook, HoldfastClient, RunOptions, SessionPlace } from '../../../src/api';
import type { BackgroundPort } from '../../../src/editor/api/backgroundPort';
import { Clients, nameOfOwner, type ClientsParts } from '../../../src/editor/api/clients';
import { Door } from '../../../src/editor/door';
import type { RunRequest } from '../../../src/editor/runs';
import { SessionBook } from '../../../src/editor/sessions/sessionBook';
import type { SessionTarget } from '../../../src/editor/sessions/target';
import type { SessionSnapshot } from '../../../src/pool/types';
import { createAdmission } from '../../../src/runner/admission';
import type { BackgroundSnapshot } from '../../../src/runner/backgroundTypes';
import { resultOf } from '../../support/executionResult';

const OWNER = 'extension:acme.tools';
const target: SessionTarget = {
  language: 'python',
  sessionId: 'python:default',
  cwd: '/w',
  interpreter: undefined,
  label: 'w',
};

function snapshot(more: Partial<SessionSnapshot> = {}): SessionSnapshot {
  return {
    ...{ id: 's1', sessionId: 'python:default', cwd: '/w', interpreter: undefined },
    ...{ incarnation: 1, state: { kind: 'idle', since: 0 }, owners: [], queue: [] },
    ...{ pid: 1, description: undefined, memoryBytes: undefined, startedAt: 0 },
    ...more,
  };
}

function setUp() {
  const installed = new Map([
    ['acme.tools', 'Acme Tools'],
    ['other.one', 'Other'],
  ]);
  const extensionsChanged = new Emitter<void>();
  const sessionsChanged = new Emitter<void>();
  const backgroundChanged = new Emitter<void>();
  const performed: RunRequest[] = [];
  const closed: string[] = [];
  const released: string[] = [];
  const warmed: unknown[] = [];
  const launched: unknown[] = [];
  const background: BackgroundSnapshot[] = [];
  const world = {
    ...{ installed, extensionsChanged, sessionsChanged, performed, closed, released, warmed },
    launched,
    ...{ background, backgroundChanged },
    sessions: [] as SessionSnapshot[],
    trusted: true,
    warm: deferred<{ ok: true; docs: [] }>(),
  };
  const door = new Door({
    execute: () => Promise.resolve(resultOf({ output: 'kernel' })),
    disposers: [
      (owner) => {
        closed.push(owner);
        return Promise.resolve();
      },
    ],
    isStreaming: () => false,
    record() {},
    log: silentLog,
  });
  const port: BackgroundPort = {
    launch(launch) {
      launched.push(launch);
      const { code, owner, cwd } = launch;
      const executionId = `bg-${background.length + 1}`;
      background.push({
        ...{ executionId, status: 'running', done: false, stdout: '', interrupted: false },
        ...{ error: undefined, startedAt: 1, endedAt: undefined },
        request: { executionId, code, ownerId: owner, cwd, startedAt: 1 },
      });
      return Promise.resolve({ executionId });
    },
    peek: (id) => background.find(({ executionId }) => executionId === id) ?? fail(),
    list: () => background,
    interrupt: (id) => Promise.resolve(port.peek(id)),
    kill: (id) => Promise.resolve(port.peek(id)),
    onDidChange: backgroundChanged.event,
  };
  const parts: ClientsParts = {
    model: {
      sessions: () => world.sessions,
      withId: (id) => world.sessions.find((session) => session.id === id),
      withKey: () => world.sessions[0],
      onDidChange: sessionsChanged.event,
    },
    book: new SessionBook(),
    runs: {
      perform(request) {
        performed.push(request);
        request.onOutput?.({ type: 'stream', name: 'stdout', text: 'x' });
        return Promise.resolve(resultOf());
      },
    },
    door,
    admission: createAdmission({ captureEnabled: true }),
    background: port,
    log: silentLog,
    assertAllowed() {
      if (!world.trusted) throw Object.assign(new Error('no'), { code: 'untrusted_workspace' });
    },
    pool: () =>
      Promise.resolve({
        warm(request) {
          warmed.push(request);
          return world.warm.promise;
        },
        releaseOwner(id, owner) {
          released.push(`${id} ${owner}`);
          return Promise.resolve();
        },
      }),
    defaultFolder: () => '/first',
    resolve: ({ folder }) => Promise.resolve({ ...target, cwd: folder }),
    extension(id) {
      const displayName = installed.get(id);
      return displayName === undefined ? undefined : { id, displayName };
    },
    onDidChangeExtensions: extensionsChanged.event,
  };
  const clients = new Clients(parts);
  const client: HoldfastClient = clients.api.for('acme.tools');
  return {
    ...world,
    world,
    clients,
    client,
    door,
    run: () => door.entry('window:1').run('1', inFolder),
  };
}

const inFolder = { language: 'python', cwd: '/w' };

function fail(): never {
  throw Object.assign(new Error('none'), { code: 'run_not_found' });
}

/** What comes from code that our types do not bind. */
const untyped = <T>(value: unknown): T => value as T;
const bad = { code: 'bad_input' };

describe('who asks', () => {
  it('is the extension of the id, one client each, known by its name', () => {
    const { clients, client } = setUp();
    expect(client.ownerId).toBe(OWNER);
    expect(clients.api.for('acme.tools')).toBe(client);
    expect(clients.api.version).toBe(1);
    expect(nameOfOwner(OWNER, () => ({ id: '', displayName: 'Acme Tools' }))).toBe('Acme Tools');
    expect(nameOfOwner('extension:gone.one', () => undefined)).toBe('gone.one');
    expect(nameOfOwner('chat:1', () => undefined)).toBeUndefined();
  });

  it('must be there', () => {
    const { clients } = setUp();
    for (const who of ['not.there', '', undefined, null, 7, {}, { extension: { id: 7 } }]) {
      expect(() => clients.api.for(untyped(who))).toThrowError(expect.objectContaining(bad));
    }
  });

  it('ends with its context, and what it holds stays: a context is disposed before a reload too', async () => {
    const { clients, closed } = setUp();
    const subscriptions: { dispose(): unknown }[] = [];
    const client = clients.api.for({ extension: { id: 'other.one' }, subscriptions });
    for (const each of subscriptions) each.dispose();
    await expect(client.run('1')).rejects.toMatchObject({ code: 'closed' });
    const next = clients.api.for('other.one');
    expect(next).not.toBe(client);
    expect(closed).toEqual([]);
    await next.release();
    expect(closed).toEqual(['extension:other.one']);
  });

  it('lets go when it says so, and may go on', async () => {
    const { client, closed, performed } = setUp();
    await client.release();
    expect(closed).toEqual([OWNER]);
    await client.run('1');
    expect(performed.length).toBe(1);
  });

  it('is let go of when the extension goes', async () => {
    const { client, installed, extensionsChanged, closed } = setUp();
    extensionsChanged.fire();
    expect(closed).toEqual([]);
    installed.delete('acme.tools');
    extensionsChanged.fire();
    await expect.poll(() => closed).toEqual([OWNER]);
    await expect(client.run('1')).rejects.toMatchObject({ code: 'closed' });
  });

  it('is let go of too when it held a session in the window before and did not come back', async () => {
    const { world, sessionsChanged, closed } = setUp();
    const owner = (id: string) => ({ id, kind: 'explicit' }) as const;
    world.sessions = [snapshot({ owners: [owner('extension:gone.one'), owner(OWNER)] })];
    sessionsChanged.fire();
    sessionsChanged.fire();
    await expect.poll(() => closed).toEqual(['extension:gone.one']);
  });

  it('is let go of too when only a background run of it goes on', async () => {
    const { background, backgroundChanged, closed } = setUp();
    const run = (id: string, ownerId: string, done: boolean): BackgroundSnapshot => ({
      ...{ executionId: id, status: done ? 'done' : 'running', done, stdout: '' },
      ...{ interrupted: false, error: undefined, startedAt: 1, endedAt: undefined },
      request: { executionId: id, code: '1', ownerId, cwd: '/w', startedAt: 1 },
    });
    background.push(run('1', 'extension:over.one', true), run('2', 'extension:gone.one', false));
    background.push(run('3', OWNER, false));
    backgroundChanged.fire();
    await expect.poll(() => closed).toEqual(['extension:gone.one']);
  });
});

describe('a run', () => {
  it('goes in the name of the extension, to the session of the place', async () => {
    const { client, performed } = setUp();
    const heard: unknown[] = [];
    const { signal } = new AbortController();
    await client.run('1', { cwd: '/w', timeoutMs: 5, signal, onOutput: (o) => heard.push(o) });
    expect(performed[0]).toMatchObject({
      code: '1',
      to: { cwd: '/w', sessionId: 'python:default' },
      by: { ownerId: OWNER, origin: 'api', name: 'Acme Tools' },
      timeoutMs: 5,
      signal,
    });
    expect(heard).toEqual([{ type: 'stream', name: 'stdout', text: 'x' }]);
  });

  it('goes to the first folder, to a session by name, or to one that is there', async () => {
    const { client, performed, world } = setUp();
    world.sessions = [snapshot({ sessionId: 'python:mine', cwd: '/other' })];
    await client.run('1');
    await client.run('2', { name: 'apart' });
    await client.run('3', { session: 's1' });
    expect(performed.map(({ to }) => to)).toMatchObject([
      { cwd: '/first', sessionId: 'python:default' },
      { cwd: '/first', sessionId: 'python:apart', label: 'apart' },
      { cwd: '/other', sessionId: 'python:mine' },
    ]);
    await expect(client.run('4', { session: 's2' })).rejects.toMatchObject({
      code: 'kernel_not_found',
    });
  });

  it('is not hurt by a listener that throws', async () => {
    const { client } = setUp();
    const onOutput = (): never => {
      throw new Error('its own trouble');
    };
    expect((await client.run('1', { onOutput })).exitCode).toBe(0);
  });

  it('is refused where what is asked makes no sense', async () => {
    const { client, performed } = setUp();
    const wrong: unknown[] = [
      { cwd: 'relative' },
      { cwd: 7 },
      { language: 'cobol' },
      { timeoutMs: -1 },
      { timeoutMs: Number.NaN },
      { signal: {} },
      { onOutput: 'x' },
      { name: '' },
      { session: 's1', cwd: '/w' },
      'python',
    ];
    for (const options of wrong) {
      const run = client.run('1', untyped<RunOptions>(options));
      await expect(run, JSON.stringify(options)).rejects.toMatchObject(bad);
    }
    await expect(client.run(untyped<string>(7))).rejects.toThrow('Acme Tools: code: ');
    await expect(client.hold(untyped<SessionPlace>({ cwd: 1 }))).rejects.toMatchObject(bad);
    expect(performed).toEqual([]);
  });
});

describe('an untrusted workspace', () => {
  it('is one where nothing is done', async () => {
    const { world, client, performed } = setUp();
    world.trusted = false;
    const untrusted = { code: 'untrusted_workspace' };
    await expect(client.run('1')).rejects.toMatchObject(untrusted);
    await expect(client.hold()).rejects.toMatchObject(untrusted);
    await expect(client.externalMutation(() => 1)).rejects.toMatchObject(untrusted);
    await expect(client.background.launch('1')).rejects.toMatchObject(untrusted);
    expect(() => client.addBeforeRunHook(() => undefined)).toThrow('no');
    expect(performed).toEqual([]);
  });
});

describe('a hold', () => {
  it('is of the session of the place, until it is released, once', async () => {
    const { world, client, warmed, released } = setUp();
    world.warm.resolve({ ok: true, docs: [] });
    world.sessions = [snapshot({ owners: [{ id: OWNER, kind: 'explicit' }] })];
    const held = await client.hold({ cwd: '/w' });
    expect(warmed).toEqual([{ cwd: '/w', sessionId: 'python:default', ownerId: OWNER }]);
    expect(held.session).toMatchObject({ id: 's1', state: 'idle', isHeldByYou: true });
    await held.release();
    held.dispose();
    expect(released).toEqual([`s1 ${OWNER}`]);
  });

  it('that comes when all was let go of is given back', async () => {
    const { world, client, warmed, released } = setUp();
    world.sessions = [snapshot()];
    const held = client.hold();
    await expect.poll(() => warmed.length).toBe(1);
    await client.release();
    world.warm.resolve({ ok: true, docs: [] });
    await expect(held).rejects.toMatchObject({ code: 'closed' });
    expect(released).toEqual([`s1 ${OWNER}`]);
  });
});

describe('a before-run hook', () => {
  it('is told of a run, and may supply the result', async () => {
    const { client, run } = setUp();
    const told: unknown[] = [];
    const result = resultOf({ output: 'supplied', exitCode: undefined, cancelled: true });
    const hook = client.addBeforeRunHook((each) => {
      told.push(each);
      return told.length === 1 ? undefined : { result };
    });
    expect((await run()).output).toBe('kernel');
    expect(await run()).toEqual(result);
    expect(told[0]).toEqual({ code: '1', ...inFolder, excludeFromContext: false });
    hook.dispose();
    expect((await run()).output).toBe('kernel');
  });

  it('that answers what is no result fails the run, and is named', async () => {
    const { client, run } = setUp();
    const answers: unknown[] = [
      7,
      { result: {} },
      { result: 'x' },
      { result: { ...resultOf(), exitCode: 'no' } },
      { result: { ...resultOf(), displayOutputs: [1] } },
    ];
    for (const answer of answers) {
      const hook = client.addBeforeRunHook(untyped<BeforeRunHook>(() => answer));
      await expect(run(), JSON.stringify(answer)).rejects.toMatchObject(bad);
      await expect(run()).rejects.toThrow('Acme Tools: answer of its before-run hook');
      hook.dispose();
    }
    expect(() => client.addBeforeRunHook(untyped<BeforeRunHook>('x'))).toThrow('no function');
  });

  it('that throws keeps the run from happening, and is named', async () => {
    const { client, run } = setUp();
    client.addBeforeRunHook(() => {
      throw new Error('Not on Fridays.');
    });
    await expect(run()).rejects.toMatchObject({
      code: 'hook_failed',
      message: 'Acme Tools kept this run from happening: Not on Fridays.',
    });
  });

  it('goes with its client', async () => {
    const { client, run } = setUp();
    client.addBeforeRunHook(() => Promise.reject(new Error('x')));
    client.dispose();
    expect((await run()).output).toBe('kernel');
  });
});

describe('background runs', () => {
  it("are an extension's own to see", async () => {
    const { clients, client } = setUp();
    const other = clients.api.for('other.one');
    const { executionId } = await client.background.launch('1', { cwd: '/w' });
    expect(client.background.list().map((run) => run.executionId)).toEqual([executionId]);
    expect(client.background.peek(executionId).status).toBe('running');
    expect(other.background.list()).toEqual([]);
    const notFound = { code: 'run_not_found' };
    expect(() => other.background.peek(executionId)).toThrowError(
      expect.objectContaining(notFound),
    );
    await expect(other.background.kill(executionId)).rejects.toMatchObject(notFound);
    await expect(client.background.interrupt('none')).rejects.toMatchObject(notFound);
    await expect(client.background.kill(untyped<string>(undefined))).rejects.toMatchObject(
      notFound,
    );
  });
});

describe('a background run', () => {
  it('is refused where what is asked makes no sense, and nothing is started', async () => {
    const { client, background } = setUp();
    for (const options of [{ cwd: 'relative' }, { language: 'cobol' }, { label: 7 }, 'x', 7]) {
      const launch = client.background.launch('1', untyped(options));
      await expect(launch, JSON.stringify(options)).rejects.toMatchObject(bad);
    }
    await expect(client.background.launch(untyped<string>(null))).rejects.toThrow(
      'Acme Tools: code: ',
    );
    expect(background).toEqual([]);
  });

  it('goes in the name of the extension, with what it is called', async () => {
    const { client, launched } = setUp();
    await client.background.launch('1', { cwd: '/w', label: 'Index', excludeFromContext: true });
    await client.background.launch('2');
    expect(launched).toMatchObject([
      {
        ...{ code: '1', owner: OWNER, ownerName: 'Acme Tools', origin: 'api', cwd: '/w' },
        ...{ label: 'Index', excludeFromContext: true },
      },
      { code: '2', cwd: '/first' },
    ]);
  });
});

describe('events', () => {
  it('are told until they are not wanted, or their client goes', () => {
    const { client, sessionsChanged, backgroundChanged } = setUp();
    const told: string[] = [];
    const more: { dispose(): void }[] = [];
    client.onDidChangeSessions(() => told.push('sessions'), undefined, more);
    const own = client.background.onDidChange(() => told.push('background'));
    client.background.onDidChange(() => told.push('until the end'));
    sessionsChanged.fire();
    backgroundChanged.fire();
    expect(told).toEqual(['sessions', 'background', 'until the end']);
    own.dispose();
    for (const each of more) each.dispose();
    client.dispose();
    sessionsChanged.fire();
    backgroundChanged.fire();
    expect(told.length).toBe(3);
  });

  it('take nothing but a function', () => {
    const { client } = setUp();
    for (const event of [client.onDidChangeSessions, client.background.onDidChange]) {
      expect(() => event(untyped<() => void>({}))).toThrow(expect.objectContaining(bad));
    }
  });
});

describe('an edit of workspace files', () => {
  it('keeps captures out, may nest, and answers as the edit does', async () => {
    const { client } = setUp();
    const answer = await client.externalMutation(() => client.externalMutation(() => 7));
    expect(answer).toBe(7);
  });

  it('is a function, or nothing begins', async () => {
    const { client } = setUp();
    const edit = untyped<() => void>(Promise.resolve());
    await expect(client.externalMutation(edit)).rejects.toMatchObject({
      ...bad,
      message: 'Acme Tools: its edit is no function.',
    });
  });
});
