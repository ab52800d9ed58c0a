import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFailed, onTestFinished, test } from 'vitest';
import { bundle } from '../process/support/bundle';
import { runnersDir } from '../process/support/hosting';
import { realPython } from '../support/realPython';
import { Chaos } from './chaos';

const seconds = Number(process.env['HOLDFAST_CHAOS_SECONDS'] ?? 240);
const seed = Number(process.env['HOLDFAST_CHAOS_SEED'] ?? Date.now() % 2 ** 31);

test.skipIf(process.platform !== 'linux')(
  'windows, kernel hosts, kernels and children are killed, stopped and reloaded under load: nothing is left, lost or doubled',
  { timeout: (seconds + 300) * 1_000 },
  async () => {
    console.log(`chaos: --seed ${seed} --seconds ${seconds}`);
    // Short, for the sockets in it.
    const root = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'hfc-')));
    const [windowScript, hostScript] = await Promise.all([
      bundle('test/chaos/windowProcess.ts', path.join(root, 'window.js')),
      bundle('src/kernelHost/main.ts', path.join(root, 'kernelHost.js')),
    ]);
    const chaos = new Chaos({
      ...{ seed, seconds, root, windowScript, hostScript, runnersDir },
      interpreter: realPython(),
    });
    onTestFinished(() => chaos.endAll());
    onTestFailed(() => console.log(`The windows' logs are in ${root}.`));
    const { wrong, last, runs, counts } = await chaos.run();
    console.log(`chaos: ${runs} runs; ${JSON.stringify(counts)}`);
    if (wrong.length > 0)
      console.log(`chaos: seed ${seed}; what was done last:\n${last.join('\n')}`);
    expect(wrong).toEqual([]);
    rmSync(root, { recursive: true, force: true });
  },
);
