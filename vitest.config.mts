import { defineConfig } from 'vitest/config';

const project = (name: string, include: string[], workers: number, more: object = {}) => ({
  test: { name, include, environment: 'node', maxWorkers: workers, ...more },
});

/** One project per level at which a thing can fail for real, with as many files at a time as two cores can bear. */
export default defineConfig({
  test: {
    projects: [
      project('unit', ['test/unit/**/*.test.ts'], 2, { sequence: { groupOrder: 1 } }),
      // Children that are waited for take little of a core.
      project('process', ['test/process/**/*.test.ts'], 3, {
        testTimeout: 30_000,
        hookTimeout: 30_000,
        sequence: { groupOrder: 2 },
        globalSetup: ['test/process/globalSetup.ts'],
      }),
      project('chaos', ['test/chaos/**/*.test.ts'], 1, { sequence: { groupOrder: 3 } }),
      project('e2e', ['test/e2e/**/*.test.ts'], 2, {
        testTimeout: 120_000,
        hookTimeout: 120_000,
        sequence: { groupOrder: 4 },
        globalSetup: ['test/e2e/globalSetup.ts'],
      }),
    ],
  },
});
