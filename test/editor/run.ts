import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe as inWords } from '../support/processes/family';
import { repositoryRoot, testOutputFolder } from '../support/repository';
import { type LevelOutcome, failure, merge } from '../support/wholeRun/outcome';
import { type WorkbenchServer, startServer, temporaryWorkspace } from '../support/workbench';
import { bundleEditorTests, bundleSampleExtension, editorWorkspaceFiles } from './bundle';

const limitMs = 6 * 60_000;

/** Runs `test/editor/*.test.ts` inside the extension host of a served VS Code, on the extension as it stands in `dist/`. */
export async function runEditorTests(pattern?: string): Promise<LevelOutcome> {
  const suite = await bundleEditorTests();
  const results = emptyOutput('editor-results.json');
  const report = emptyOutput('editor-report.txt');

  const workspace = temporaryWorkspace(editorWorkspaceFiles);
  const server = await startServer({
    companions: [],
    extensions: [await bundleSampleExtension()],
    env: {
      HOLDFAST_EDITOR_RESULTS: results,
      HOLDFAST_EDITOR_REPORT: report,
      HOLDFAST_EDITOR_GREP: pattern,
    },
  });
  let outcome: LevelOutcome;
  try {
    const exitCode = await runInHost(server, workspace.folder, suite);
    outcome = judge(exitCode, results);
  } catch (error) {
    outcome = failure('the in-host run', error);
  }
  if (fs.existsSync(report)) process.stdout.write(fs.readFileSync(report, 'utf8'));
  const left = await server.stop();
  workspace.remove();
  if (left.length === 0) return outcome;
  return merge(
    outcome,
    failure('every process ends with its window', left.map(inWords).join('\n')),
  );
}

/** A crashed host reports exit code 0 as well: only the results file, written at the very end, proves a whole run. */
function judge(exitCode: number, results: string): LevelOutcome {
  if (!fs.existsSync(results)) {
    const reason = `the extension host ended (code ${exitCode}) before the tests did`;
    return failure('the in-host run', reason);
  }
  const outcome = JSON.parse(fs.readFileSync(results, 'utf8')) as LevelOutcome;
  if (exitCode === 0 || outcome.failed.length > 0) return outcome;
  return merge(outcome, failure('the in-host run', `exit code ${exitCode}`));
}

async function runInHost(server: WorkbenchServer, folder: string, suite: string): Promise<number> {
  const browser = await server.browser();
  const page = await browser.newPage();
  const consoleLog = emptyOutput('editor-console.log');
  const limit = new AbortController();
  try {
    const ended = new Promise<number>((resolve, reject) => {
      // The workbench calls these two by name in the page that runs tests.
      const log = (type: string, args: unknown[]): void => {
        fs.appendFileSync(consoleLog, `${type} ${JSON.stringify(args)}\n`);
      };
      const bound = page
        .exposeFunction('codeAutomationLog', log)
        .then(async () => page.exposeFunction('codeAutomationExit', resolve))
        .then(async () => page.goto(addressOf(server, folder, suite)));
      bound.catch(reject);
      page.once('crash', () => reject(new Error('the browser page crashed')));
    });
    const expired = delay(limitMs, undefined, { signal: limit.signal, ref: false }).then(() => {
      throw new Error(`the in-host tests did not end within ${limitMs / 1000} s`);
    });
    expired.catch(() => undefined);
    return await Promise.race([ended, expired]);
  } finally {
    limit.abort();
    await page.close();
  }
}

function addressOf(server: WorkbenchServer, folder: string, suite: string): string {
  const remote = (file: string): string => `vscode-remote://remote${file}`;
  const payload = [
    ['extensionDevelopmentPath', remote(repositoryRoot())],
    ['extensionTestsPath', remote(suite)],
  ];
  const address = new URL(server.url);
  address.searchParams.set('folder', folder);
  address.searchParams.set('payload', JSON.stringify(payload));
  return address.href;
}

/** The path of an output file of this run, with nothing of an earlier one in it. */
function emptyOutput(name: string): string {
  const file = path.join(testOutputFolder(), name);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.rmSync(file, { force: true });
  return file;
}
