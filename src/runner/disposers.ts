/** Lets go of what an owner holds in one place. */
export type OwnerDisposer = (ownerId: string) => Promise<void>;

/** Asks all at once. Rejects, when all have answered, with an AggregateError of exactly what failed, in their order. */
export async function disposeOwned(
  disposers: readonly OwnerDisposer[],
  ownerId: string,
): Promise<void> {
  const answers = await Promise.allSettled(disposers.map(async (dispose) => dispose(ownerId)));
  const failures = answers.flatMap((answer): unknown[] =>
    answer.status === 'rejected' ? [answer.reason] : [],
  );
  if (failures.length === 0) return;
  throw new AggregateError(failures, `Not all that ${ownerId} held could be let go of.`);
}
