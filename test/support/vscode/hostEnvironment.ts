/** This process's environment without what would mislead a VS Code server that is started from it. */
export function hostEnvironment(): NodeJS.ProcessEnv {
  // A terminal of VS Code passes VSCODE_* on, which would make the server believe that it is part of that one.
  const misleading = /^(VSCODE_|ELECTRON_|VITEST|npm_)/;
  const kept = Object.entries(process.env).filter(
    ([name]) => !misleading.test(name) && name !== 'NODE_OPTIONS' && name !== 'NODE_ENV',
  );
  return Object.fromEntries(kept);
}
