import { defineConfig } from 'vitest/config';

const project = (name: string, include: string[], more: object = {}) => ({
  test: { name, include, environment: 'node', ...more },
});

/** One project per level at which a thing can fail for real; slow levels run one file at a time. */
export default defineConfig({
  test: {
    projects: [
      project('unit', ['test/unit/**/*.test.ts']),
      project('process', ['test/process/**/*.test.ts'], {
        testTimeout: 30_000,
        hookTimeout: 30_000,
      }),
      project('chaos', ['test/chaos/**/*.test.ts'], { fileParallelism: false }),
      project('e2e', ['test/e2e/**/*.test.ts'], {
        testTimeout: 120_000,
        hookTimeout: 120_000,
        fileParallelism: false,
        globalSetup: ['test/e2e/globalSetup.ts'],
      }),
    ],
  },
});
