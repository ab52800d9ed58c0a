// Runs in the page before its own scripts: the editor's side of a webview, and a record of tasks over 50 ms.
(() => {
  const key = 'state';
  globalThis.acquireVsCodeApi = () => ({
    postMessage: (message) => globalThis.toExtension(message),
    getState: () => JSON.parse(sessionStorage.getItem(key) ?? 'null'),
    setState: (state) => sessionStorage.setItem(key, JSON.stringify(state)),
  });
  globalThis.longTasks = [];
  new PerformanceObserver((list) => {
    globalThis.longTasks.push(...list.getEntries().map((entry) => entry.duration));
  }).observe({ entryTypes: ['longtask'] });
})();
