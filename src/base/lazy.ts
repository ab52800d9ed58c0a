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

/** What takes a while to make, and is made at its first use. */
export interface Later<T> {
  /** Makes it, or gives what was made; as `lazy`. */
  get(): Promise<T>;
  /** It, once it is there: for whoever needs it only if somebody else did. */
  readonly made: T | undefined;
}

export function later<T>(make: () => Promise<T>): Later<T> {
  let made: T | undefined;
  const get = lazy(async () => (made = await make()));
  return {
    get,
    get made() {
      return made;
    },
  };
}
