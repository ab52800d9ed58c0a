/** A name like another one's that nobody has: "lab 2", and "lab 3" beside that. */
export function freeName(base: string, taken: readonly string[]): string {
  const stem = base.replace(/ \d+$/, '');
  for (let number = 2; ; number++) {
    const name = `${stem} ${number}`;
    if (!taken.includes(name)) return name;
  }
}

/** Why a session can't be called so. Undefined: it can. */
export function complaint(name: string, taken: readonly string[]): string | undefined {
  if (name === '' || name === 'default') return 'A session needs a name of its own.';
  return taken.includes(name) ? `There is a session called ${name} already.` : undefined;
}
