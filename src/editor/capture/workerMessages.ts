import type { FolderChanges } from './baseline';
import type { CaptureLimits } from './limits';

/** What a capture's thread is made for. */
export interface WorkerData {
  readonly root: string;
  readonly storage: string;
  readonly limits: CaptureLimits;
}

export type Request = { readonly id: number } & (
  | { readonly what: 'refresh'; readonly excluded: readonly string[] }
  | { readonly what: 'changes'; readonly since: number; readonly keepBytes: number | undefined }
  | { readonly what: 'dispose' }
  /** Of the request of this id. */
  | { readonly what: 'abort' }
);

export interface Answer {
  readonly id: number;
  readonly value?: FolderChanges | undefined;
  readonly failure?: Error;
}
