import path from 'node:path';
import { afterAll, afterEach, beforeAll, type RunnerTestCase } from 'vitest';
import { testOutputFolder } from '../repository';
import { packagedExtension } from './packagedExtension';
import { type ServerOptions, type WorkbenchServer, startServer } from './server';
import { type TemporaryWorkspace, temporaryWorkspace } from './workspace';

/** What the tests of a file, or of a `describe`, work with. All of it is ended and removed after the last of them. */
export interface Workbench {
  /** Makes a folder with the given files (path → text) in it. */
  folder(files: Readonly<Record<string, string>>): TemporaryWorkspace;
  /** Starts a server, with the packaged extension unless `options` names others. */
  startServer(options?: ServerOptions): Promise<WorkbenchServer>;
}

/** Lets `begin` prepare a workbench for the tests beside this call. When one of them fails, its windows are pictured. */
export function workbenchForTests(begin: (workbench: Workbench) => Promise<void>): void {
  const folders: TemporaryWorkspace[] = [];
  const servers: WorkbenchServer[] = [];

  beforeAll(async () => {
    await begin({
      folder: (files) => {
        const made = temporaryWorkspace(files);
        folders.push(made);
        return made;
      },
      startServer: async (options) => {
        const server = await startServer({ extensions: [packagedExtension()], ...options });
        servers.push(server);
        return server;
      },
    });
  });

  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail') await picture(task, servers);
  });

  afterAll(async () => {
    for (const server of servers) await server.stop();
    for (const folder of folders) folder.remove();
  });
}

async function picture(task: RunnerTestCase, servers: readonly WorkbenchServer[]): Promise<void> {
  const file = path.basename(task.file.name, '.test.ts');
  for (const server of servers) {
    const contexts = (await server.browser()).contexts();
    for (const [at, page] of contexts.flatMap((context) => context.pages()).entries()) {
      const name = `${file}-failed-${task.id}-${at}.png`;
      await page.screenshot({ path: path.join(testOutputFolder(), 'screenshots', name) });
    }
  }
}
