/**
 * The layers: a line of code may look down, never up or sideways. See ARCHITECTURE.md.
 * @type {import('dependency-cruiser').IConfiguration}
 */

/** What the code of a layer may import from src/, besides itself. */
const layers = {
  base: [],
  platform: ['base'],
  kernel: ['base'],
  protocol: ['kernel', 'base'],
  ledger: ['platform', 'protocol', 'base'],
  pool: ['kernel', 'base'],
  runner: ['pool', 'kernel', 'base'],
  hosting: ['ledger', 'protocol', 'kernel', 'base', 'platform'],
  kernelHost: ['ledger', 'protocol', 'kernel', 'base', 'platform'],
};

const layerRules = Object.entries(layers).map(([layer, below]) => ({
  name: `${layer}-looks-down-only`,
  comment: `src/${layer} may import ${below.join(', ') || 'nothing else of ours'}`,
  severity: 'error',
  from: { path: `^src/${layer}/` },
  to: { path: '^src/', pathNot: `^src/(${[layer, ...below].join('|')})/` },
}));

module.exports = {
  forbidden: [
    ...layerRules,
    {
      name: 'editor-knows-no-kernel-host',
      comment: 'the kernel host is another process: src/hosting speaks to it, by src/protocol',
      severity: 'error',
      from: { path: '^src/(editor/|extension\\.ts|api\\.ts)' },
      to: { path: '^src/kernelHost/' },
    },
    {
      name: 'composed-at-the-top',
      comment: 'the areas of a window are put together by the entry: nothing reaches up into them',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(editor/window/|extension\\.ts$)' },
      to: { path: '^src/editor/window/' },
    },
    {
      name: 'panel-stands-alone',
      comment: 'browser code shares a protocol file and pure base with the rest, and nothing else',
      severity: 'error',
      from: { path: '^src/webview/' },
      to: { path: '^src/', pathNot: '^src/(webview|base)/' },
    },
    {
      name: 'only-the-protocol-of-the-panel',
      comment: 'nobody else runs browser code',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/webview/' },
      to: { path: '^src/webview/', pathNot: '^src/webview/protocol\\.ts$' },
    },
    {
      name: 'vscode-in-the-editor-only',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(editor/|extension\\.ts|api\\.ts)' },
      to: { path: '^vscode$|@types/vscode' },
    },
    {
      name: 'pool-without-node',
      comment: 'the pool is policy: it runs anywhere and takes time and processes from outside',
      severity: 'error',
      from: { path: '^src/(pool|kernel|base)/' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'no-cycles',
      severity: 'error',
      from: {},
      // A type that two files share is gone when the code runs.
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'no-orphans',
      comment: 'a file that nobody imports is either an entry point or dead',
      severity: 'error',
      from: {
        orphan: true,
        pathNot:
          '(^src/extension\\.ts|^src/kernelHost/main\\.ts|^src/editor/capture/worker\\.ts|^src/webview/panel\\.ts|\\.d\\.ts)$',
      },
      to: {},
    },
    {
      name: 'resolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true, pathNot: '^vscode$' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.js', '.json'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default'],
    },
    cache: { folder: 'out/dependency-cruiser', strategy: 'content' },
  },
};
