import { systemClock } from '../base/clock';
import type { ExecutionResult } from '../pool/types';
import type { Admission } from './admission';
import { notStarted } from './notStarted';
import type { ExecuteOptions } from './runner';

type Execute = (code: string, options: ExecuteOptions) => Promise<ExecutionResult>;

/** An `execute` whose runs wait for a capture of somebody else. One that is aborted meanwhile is cancelled, as in a queue. */
export function admitted(admission: Pick<Admission, 'ordinaryRun'>, execute: Execute): Execute {
  return async (code, options) => {
    const { signal } = options;
    const askedAt = systemClock.now();
    let isSent = false;
    const send = (): Promise<ExecutionResult> => {
      isSent = true;
      return execute(code, options);
    };
    try {
      return await admission.ordinaryRun(send, { signal });
    } catch (error) {
      if (isSent || !signal.aborted) throw error;
      return notStarted(signal.reason, systemClock.now() - askedAt);
    }
  };
}
