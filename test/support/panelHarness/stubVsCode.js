// Runs in the page before its own scripts: the editor's side of a webview.
(() => {
  const key = 'state';
  globalThis.acquireVsCodeApi = () => ({
    postMessage: (message) => globalThis.toExtension(message),
    getState: () => JSON.parse(sessionStorage.getItem(key) ?? 'null'),
    setState: (state) => sessionStorage.setItem(key, JSON.stringify(state)),
  });
})();
