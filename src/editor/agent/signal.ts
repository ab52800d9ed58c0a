import type { CancellationToken } from 'vscode';

/** The editor's token as a signal, converted once, at the edge. `dispose` when the call is over. */
export function signalOf(token: CancellationToken): {
  readonly signal: AbortSignal;
  dispose(): void;
} {
  const controller = new AbortController();
  if (token.isCancellationRequested) controller.abort();
  const following = token.onCancellationRequested(() => controller.abort());
  return {
    signal: controller.signal,
    dispose() {
      following.dispose();
    },
  };
}
