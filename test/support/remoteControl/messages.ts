/** One JSON text per line, both ways, over the socket at HOLDFAST_REMOTE_CONTROL. */

/** The first line from a host. */
export interface Hello {
  readonly pid: number;
  readonly folders: readonly string[];
}

export interface Request {
  readonly id: number;
  /** The source of a function `(vscode, argument) => value`. */
  readonly body: string;
  readonly argument: unknown;
}

export interface Answer {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: string;
}

export type FromHost = Hello | Answer;
