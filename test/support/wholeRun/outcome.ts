/** What one level of tests came to, by name. */
export interface LevelOutcome {
  readonly passed: number;
  readonly failed: readonly { readonly name: string; readonly error: string }[];
  readonly skipped: readonly { readonly name: string; readonly reason: string }[];
}

export const failure = (name: string, error: unknown): LevelOutcome => ({
  passed: 0,
  failed: [
    { name, error: error instanceof Error ? (error.stack ?? error.message) : String(error) },
  ],
  skipped: [],
});

export const merge = (...outcomes: readonly LevelOutcome[]): LevelOutcome => ({
  passed: outcomes.reduce((sum, each) => sum + each.passed, 0),
  failed: outcomes.flatMap((each) => each.failed),
  skipped: outcomes.flatMap((each) => each.skipped),
});
