import * as v from 'valibot';
import type { PoolSettings } from '../pool/settings';

const atLeast = (least: number) => v.pipe(v.number(), v.finite(), v.minValue(least));
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
  idleExpiryMinutes: atLeast(0),
  memoryCapMB: v.pipe(v.number(), v.finite()),
  maxOutputBytes: whole(0),
  'chat.gracePeriodMinutes': atLeast(0),
  queueOnError: queuePolicy,
  queueOnInterrupt: queuePolicy,
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
  idleExpiryMinutes: 30,
  memoryCapMB: 1_024,
  maxOutputBytes: 50_000,
  'chat.gracePeriodMinutes': 5,
  queueOnError: 'continue',
  queueOnInterrupt: 'continue',
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
