import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import { bundle } from './support/bundle';

declare module 'vitest' {
  interface ProvidedContext {
    /** The path of the kernel host's bundle. */
    kernelHostScript: string;
    /** The path of what stands in for an extension host. */
    standInScript: string;
  }
}

/** Before the first process test: what the tests start is bundled, once for all of them. */
export default async function prepare(project: TestProject): Promise<() => void> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'hf-bundles-'));
  const [kernelHost, standIn] = await Promise.all([
    bundle('src/kernelHost/main.ts', path.join(folder, 'kernelHost.js')),
    bundle('test/process/support/standInHost.ts', path.join(folder, 'standIn.js')),
  ]);
  project.provide('kernelHostScript', kernelHost);
  project.provide('standInScript', standIn);
  return () => rmSync(folder, { recursive: true, force: true });
}
