const MIB = 2 ** 20;

export interface CaptureLimits {
  /** Files that are looked at, in each workspace folder. */
  readonly maxFiles: number;
  /** Text of a file that is kept. */
  readonly maxTextBytes: number;
  /** A file that is hashed. */
  readonly maxHashBytes: number;
  /** What is read at once before a run, and what is kept of it, in each workspace folder. */
  readonly maxReadBytes: number;
  readonly maxPackBytes: number;
  /** Files that one capture lists, in each workspace folder. */
  readonly maxChanges: number;
  /** Text that one capture keeps, in all its folders. */
  readonly maxKeptBytes: number;
}

export const captureLimits: CaptureLimits = {
  maxFiles: 100_000,
  maxTextBytes: MIB,
  maxHashBytes: 64 * MIB,
  maxReadBytes: 512 * MIB,
  maxPackBytes: 256 * MIB,
  maxChanges: 5_000,
  maxKeptBytes: 64 * MIB,
};
