import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { runTests } from '@vscode/test-electron';
import { repositoryRoot, testOutputFolder } from '../support/repository';
import type { LevelOutcome } from '../support/wholeRun/outcome';
import { temporaryWorkspace } from '../support/workbench/workspace';
import { bundleEditorTests, editorWorkspaceFiles } from './bundle';

// usage: npm run test:desktop [-- --version 1.95.0]
// The same suite as `npm run test:editor`, in a desktop VS Code that is downloaded into .vscode-test/ on first use.
const at = process.argv.indexOf('--version');
const version = at === -1 ? 'stable' : (process.argv[at + 1] ?? 'stable');

execFileSync(process.execPath, ['esbuild.mjs'], { cwd: repositoryRoot(), stdio: 'inherit' });
const suite = await bundleEditorTests();
const results = path.join(testOutputFolder(), 'desktop-results.json');
fs.mkdirSync(path.dirname(results), { recursive: true });
fs.rmSync(results, { force: true });

const workspace = temporaryWorkspace(editorWorkspaceFiles);
// Short: the sockets of a desktop VS Code lie in its user data, and their paths have a limit of 103 bytes on macOS.
const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'hfd-'));
try {
  const exitCode = await runTests({
    version,
    extensionDevelopmentPath: repositoryRoot(),
    extensionTestsPath: suite,
    extensionTestsEnv: {
      HOLDFAST_EDITOR_RESULTS: results,
      HOLDFAST_EDITOR_GREP: undefined,
    },
    launchArgs: [
      workspace.folder,
      `--user-data-dir=${path.join(profile, 'user')}`,
      `--extensions-dir=${path.join(profile, 'extensions')}`,
      '--disable-workspace-trust',
      '--disable-updates',
      '--skip-welcome',
      '--skip-release-notes',
    ],
  });
  if (!fs.existsSync(results)) throw new Error('the extension host ended before the tests did');
  const outcome = JSON.parse(fs.readFileSync(results, 'utf8')) as LevelOutcome;
  const counts = [outcome.passed, outcome.failed.length, outcome.skipped.length];
  process.stdout.write(`${counts[0]} passed, ${counts[1]} failed, ${counts[2]} skipped\n`);
  if (exitCode !== 0 || outcome.passed === 0 || outcome.failed.length > 0) process.exitCode = 1;
} finally {
  workspace.remove();
  fs.rmSync(profile, { recursive: true, force: true });
}
