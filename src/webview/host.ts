import * as v from 'valibot';
import type { FromPanel } from './protocol';

interface VsCodeApi {
  postMessage(message: unknown): void;
  getState(): unknown;
  setState(state: unknown): void;
}

declare function acquireVsCodeApi(): VsCodeApi;

const viewState = v.object({
  draft: v.string(),
  history: v.array(v.string()),
  /** px from the top; null while the view follows the newest line. */
  scroll: v.nullable(v.number()),
  /** The session that this is about. */
  shown: v.nullable(v.string()),
});

/** What the page finds again when it was hidden. */
type ViewState = v.InferOutput<typeof viewState>;

const nothing: ViewState = { draft: '', history: [], scroll: null, shown: null };

/** The extension, as the page sees it. */
export interface Host {
  send(message: FromPanel): void;
  readonly saved: ViewState;
  save(state: ViewState): void;
}

export function connectHost(): Host {
  const api = acquireVsCodeApi();
  const saved = v.safeParse(viewState, api.getState());
  return {
    send: (message) => api.postMessage(message),
    saved: saved.success ? saved.output : nothing,
    save: (state) => api.setState(state),
  };
}
