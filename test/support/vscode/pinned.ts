/**
 * What is laid, to the version. code-server is the one registry package that carries a whole VS Code server with its
 * browser workbench; only that server is used (its lib/vscode), not code-server's own front door.
 */
export const pinned = {
  codeServer: {
    version: '4.139.1',
    integrity:
      'sha512-fUYvJVdz4ZoVJfakGiGWXFMpF8K1ObsrpGvX17ZxNpKOzdNHs7lANT670JTr4ZhA8DnWqyvvmFG/d3HV9Yy6ew==',
  },
  /** The server's native parts are prebuilt against this major version of Node. */
  node: { version: '24.21.0' },
  /** Raise it when the way of laying changes: folders laid in an older way are then laid again. */
  recipe: 1,
} as const;
