import fs from 'node:fs';
import path from 'node:path';

/** Two users that are neither root nor each other. Nobody has to know them by name. */
export const unprivileged = { uid: 65_534, gid: 65_534 };
const another = { uid: 65_533, gid: 65_533 };

const python = '/usr/bin/python3';

/** Why no process can be made here that its starter may not kill; undefined: one can. */
export function whyNotImmortal(): string | undefined {
  if (process.platform !== 'linux') return 'only on Linux';
  if (process.getuid?.() !== 0) return 'only as root';
  return fs.existsSync(python) ? undefined : `needs ${python}`;
}

/**
 * Writes a Python into a folder that, whoever starts it, runs as another user: signals to it fail with EPERM, and only
 * root can end it. What it is given to run is copied first, as that user may not be allowed to read it.
 */
export function immortalPython(folder: string): string {
  fs.chmodSync(folder, 0o755);
  const becomer = path.join(folder, 'becomer');
  fs.copyFileSync(fs.realpathSync(python), becomer);
  fs.chownSync(becomer, another.uid, another.gid);
  fs.chmodSync(becomer, 0o4755);
  const copies = path.join(folder, 'copies');
  fs.mkdirSync(copies);
  fs.chownSync(copies, another.uid, another.gid);
  const script = path.join(folder, 'become.py');
  fs.writeFileSync(script, become(copies));
  const interpreter = path.join(folder, 'python3');
  fs.writeFileSync(interpreter, `#!/bin/sh\nexec '${becomer}' -I '${script}' "$@"\n`);
  fs.chmodSync(interpreter, 0o755);
  return interpreter;
}

const become = (copies: string): string => `import os, sys
starter, other = os.getuid(), os.geteuid()
*options, runner = sys.argv[1:]
os.seteuid(starter)
with open(runner, "rb") as file:
    text = file.read()
os.seteuid(other)
copy = os.path.join(${JSON.stringify(copies)}, str(os.getpid()))
with open(copy, "wb") as file:
    file.write(text)
os.setresuid(other, other, other)
os.execv(${JSON.stringify(python)}, [${JSON.stringify(python)}, *options, copy])
`;
