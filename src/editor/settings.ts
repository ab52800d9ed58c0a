import * as v from 'valibot';
import type { KernelLimits } from '../kernel/limits';
import type { PoolSettings } from '../pool/settings';

const atLeast = (least: number) => v.pipe(v.number(), v.finite(), v.minValue(least));
const between = (least: number, most: number) =>
  v.pipe(v.number(), v.minValue(least), v.maxValue(most));
const whole = (least: number) => v.pipe(v.number(), v.integer(), v.minValue(least));
const queuePolicy = v.picklist(['continue', 'cancel']);

/** What each setting may be. Descriptions are in package.json, and the defaults in both, held equal by a test. */
export const settings = {
  'python.interpreter': v.string(),
  'python.prelude': v.array(v.string()),
  kernelMode: v.picklist(['session', 'per-call']),
  shiftEnter: v.boolean(),
  gracePeriodSeconds: atLeast(0),
  capacity: whole(1),
  ownerCleanupSeconds: atLeast(0),
  retryIntervalSeconds: atLeast(1),
  startTimeoutSeconds: atLeast(1),
  'stop.askSeconds': between(0, 600),
  'stop.finishSeconds': between(0, 600),
  'stop.interruptSeconds': between(0, 600),
  'stop.terminateSeconds': between(0, 600),
  'stop.killSeconds': between(0.5, 600),
  'stop.sweepSeconds': between(0.5, 600),
  idleExpiryMinutes: atLeast(0),
  memoryCapMB: v.pipe(v.number(), v.finite()),
  maxOutputBytes: whole(0),
  'transcripts.keep': v.boolean(),
  'capture.enabled': v.boolean(),
  'chat.gracePeriodMinutes': atLeast(0),
  // Read entry by entry, so that one that cannot be used costs no other, and no message has a value in it.
  environment: v.unknown(),
  'agents.environment': v.unknown(),
  envFile: v.string(),
  queueOnError: queuePolicy,
  queueOnInterrupt: queuePolicy,
  'background.codeLens': v.boolean(),
  'background.notify': v.picklist(['never', 'unfocused', 'always']),
};

export type SettingName = keyof typeof settings;
export type Setting<Name extends SettingName> = v.InferOutput<(typeof settings)[Name]>;

export const defaults: { readonly [Name in SettingName]: Setting<Name> } = {
  'python.interpreter': '',
  'python.prelude': [],
  kernelMode: 'session',
  shiftEnter: false,
  gracePeriodSeconds: 10,
  capacity: 4,
  ownerCleanupSeconds: 2,
  retryIntervalSeconds: 30,
  startTimeoutSeconds: 60,
  'stop.askSeconds': 3,
  'stop.finishSeconds': 0.2,
  'stop.interruptSeconds': 2,
  'stop.terminateSeconds': 2,
  'stop.killSeconds': 2,
  'stop.sweepSeconds': 1,
  idleExpiryMinutes: 30,
  memoryCapMB: 1_024,
  maxOutputBytes: 50_000,
  'transcripts.keep': true,
  'capture.enabled': true,
  'chat.gracePeriodMinutes': 5,
  environment: {},
  'agents.environment': [],
  envFile: '${workspaceFolder}/.env',
  queueOnError: 'continue',
  queueOnInterrupt: 'continue',
  'background.codeLens': true,
  'background.notify': 'unfocused',
};

/** What the pool goes by, of the settings in the units that people read. */
export function poolSettings(
  get: <Name extends SettingName>(name: Name) => Setting<Name>,
): PoolSettings {
  return {
    capacity: get('capacity'),
    ownerCleanupMs: get('ownerCleanupSeconds') * 1_000,
    retryIntervalMs: get('retryIntervalSeconds') * 1_000,
    startTimeoutMs: get('startTimeoutSeconds') * 1_000,
    idleExpiryMs: get('idleExpiryMinutes') * 60_000,
    memoryCapMb: get('memoryCapMB'),
    maxOutputBytes: get('maxOutputBytes'),
    queueOnError: get('queueOnError'),
    queueOnInterrupt: get('queueOnInterrupt'),
  };
}

// A start that takes too long is given up there a little earlier than here: there it is known what the interpreter said.
const START_ANSWER_MS = 2_000;

/** What the kernel host goes by. */
export function kernelLimits(
  get: <Name extends SettingName>(name: Name) => Setting<Name>,
): KernelLimits {
  const startMs = get('startTimeoutSeconds') * 1_000;
  return {
    stop: {
      askIdle: get('stop.askSeconds') * 1_000,
      askBusy: get('stop.finishSeconds') * 1_000,
      interrupt: get('stop.interruptSeconds') * 1_000,
      terminate: get('stop.terminateSeconds') * 1_000,
      kill: get('stop.killSeconds') * 1_000,
      sweep: get('stop.sweepSeconds') * 1_000,
    },
    readyWithinMs: Math.max(startMs / 2, startMs - START_ANSWER_MS),
  };
}
