/**
 * Makes a thing at its first use, and gives the same one ever after. A promise that rejects is not kept: the next use
 * tries again.
 */
export function lazy<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    if (made !== undefined) return made.value;
    const mine = { value: make() };
    made = mine;
    if (mine.value instanceof Promise) {
      mine.value.catch(() => {
        if (made === mine) made = undefined;
      });
    }
    return mine.value;
  };
}
