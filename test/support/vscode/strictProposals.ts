import fs from 'node:fs';
import path from 'node:path';

/**
 * code-server grants every proposed API to every extension, which would hide an accidental use of one. This puts stock
 * VS Code's rule back: a proposal counts for an extension that names it in `enabledApiProposals`.
 */
export function enforceProposals(server: string): void {
  replaceOnce(server, 'out/vs/workbench/api/node/extensionHostProcess.js', everythingEnabled);
  replaceOnce(server, 'out/vs/code/browser/workbench/workbench.js', everythingEnabled);
  replaceOnce(server, 'out/vs/code/browser/workbench/workbench.js', {
    pattern: /this\._envEnablesProposedApiForAll=!0/,
    replacement: 'this._envEnablesProposedApiForAll=!1',
  });
}

interface Replacement {
  readonly pattern: RegExp;
  readonly replacement: string;
}

/** `isProposedApiEnabled`, whose names are minified, stands directly before the check that calls it. */
const everythingEnabled: Replacement = {
  pattern:
    /function ([\w$]+)\(([\w$]+),([\w$]+)\)\{return!0\}(function [\w$]+\([\w$]+,[\w$]+\)\{if\(!\1\()/,
  replacement:
    'function $1($2,$3){return!!$2.enabledApiProposals&&$2.enabledApiProposals.includes($3)}$4',
};

function replaceOnce(server: string, name: string, { pattern, replacement }: Replacement): void {
  const file = path.join(server, name);
  const before = fs.readFileSync(file, 'utf8');
  const after = before.replace(pattern, replacement);
  if (after === before) throw new Error(`${name} has no place that matches ${String(pattern)}`);
  fs.writeFileSync(file, after);
}
