import { HoldfastError } from '../base/errors';

/** Leave to do something, until it is given back. */
export interface Lease {
  /** A second call is a silent no-op. */
  release(): void | Promise<void>;
}

/** Leases come from other code, which types do not bind. */
export function parseLease(value: unknown): Lease {
  if (isObject(value) && 'release' in value && typeof value.release === 'function') {
    return value as Lease;
  }
  throw new HoldfastError(
    'capture_unavailable',
    'The lease is malformed: it has no release(). Nothing was started.',
  );
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}
