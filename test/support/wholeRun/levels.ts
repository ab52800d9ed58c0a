import { execFileSync } from 'node:child_process';
import { runEditorTests } from '../../editor/run';
import { repositoryRoot } from '../repository';
import { howToGetChromium, provideChromium } from '../vscode/chromium';
import { layVsCode } from '../vscode/lay';
import type { LevelName, Selection } from './arguments';
import { runChecks } from './checks';
import { type LevelOutcome, failure } from './outcome';
import { testNamesIn } from './testNames';
import { runVitest } from './vitestLevel';

const minutes = (count: number): number => count * 60_000;

export async function runLevel(name: LevelName, selection: Selection): Promise<LevelOutcome> {
  try {
    switch (name) {
      case 'check':
        return await runChecks();
      case 'unit':
        return await runVitest('unit', selection, minutes(4));
      case 'process':
        build();
        return await runVitest('process', selection, minutes(8));
      case 'chaos':
        return await runVitest(
          'chaos',
          selection,
          Number(process.env['HOLDFAST_CHAOS_SECONDS']) * 1_000 + minutes(6),
        );
      case 'editor':
        if (!(await provideWorkbench())) return skipAll('test/editor');
        build();
        return await runEditorTests(selection.only);
      case 'e2e':
        if (!(await provideWorkbench())) return skipAll('test/e2e');
        return await runVitest('e2e', selection, minutes(20));
    }
  } catch (error) {
    return failure(`the ${name} level`, error);
  }
}

/** Lays VS Code and finds or installs a browser. Resolves to false when there is no browser to be had. */
async function provideWorkbench(): Promise<boolean> {
  const say = (line: string): boolean => process.stdout.write(`  laying ${line}\n`);
  await layVsCode(say);
  return provideChromium(say) !== undefined;
}

function skipAll(folder: string): LevelOutcome {
  const names = testNamesIn(folder);
  return {
    passed: 0,
    failed: [],
    skipped: names.map((name) => ({ name, reason: howToGetChromium })),
  };
}

/** As developers have it: readable, with source maps. */
function build(): void {
  execFileSync(process.execPath, ['esbuild.mjs'], { cwd: repositoryRoot(), stdio: 'inherit' });
}
