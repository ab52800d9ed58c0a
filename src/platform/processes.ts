import { darwinProcesses } from './darwin';
import { linuxProcesses } from './linux';
import type { Processes } from './identity';
import { windowsProcesses } from './windows';

export { NONCE_VARIABLE, startTimeOf, stateOf } from './identity';
export type {
  Delivery,
  FamilyMember,
  FamilyRoot,
  ProcessIdentity,
  Processes,
  ProcessScope,
} from './identity';

/** The way of the system that this runs on. */
export function platformProcesses(): Processes {
  switch (process.platform) {
    case 'linux':
      return linuxProcesses();
    case 'win32':
      return windowsProcesses();
    default:
      return darwinProcesses();
  }
}
