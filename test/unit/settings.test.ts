import fs from 'node:fs';
import path from 'node:path';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import {
  defaults,
  kernelLimits,
  poolSettings,
  settings,
  type SettingName,
} from '../../src/editor/settings';
import { STOP_DEADLINES } from '../../src/kernel/limits';
import { defaultSettings } from '../../src/pool/settings';
import { repositoryRoot } from '../support/repository';

interface Contributed {
  readonly default: unknown;
  readonly scope: string;
  readonly markdownDescription: string;
}

const manifest = JSON.parse(
  fs.readFileSync(path.join(repositoryRoot(), 'package.json'), 'utf8'),
) as { contributes: { configuration: { properties: Record<string, Contributed> } } };
const contributed = manifest.contributes.configuration.properties;

describe('the settings', () => {
  it('are those that package.json contributes, with the same defaults', () => {
    const ours = Object.entries(defaults).map(([name, value]) => [`holdfast.${name}`, value]);
    const theirs = Object.entries(contributed).map(([name, each]) => [name, each.default]);
    expect(Object.fromEntries(theirs)).toEqual(Object.fromEntries(ours));
  });

  it('have defaults that they accept themselves, and a description each', () => {
    for (const name of Object.keys(settings) as SettingName[]) {
      expect(v.is(settings[name], defaults[name]), name).toBe(true);
      expect(contributed[`holdfast.${name}`]?.markdownDescription.length).toBeGreaterThan(20);
    }
  });

  it.each<[SettingName, unknown]>([
    ['capacity', 0],
    ['capacity', 2.5],
    ['capacity', '4'],
    ['retryIntervalSeconds', 0],
    ['idleExpiryMinutes', -1],
    ['startTimeoutSeconds', Number.NaN],
    ['memoryCapMB', Number.POSITIVE_INFINITY],
    ['stop.askSeconds', -1],
    ['stop.killSeconds', 0],
    ['stop.terminateSeconds', 3_600],
    ['stop.interruptSeconds', '2'],
    ['queueOnError', 'stop'],
    ['python.prelude', 'a.py'],
  ])('%s is not %j', (name, value) => {
    expect(v.is(settings[name], value)).toBe(false);
  });

  it('give the kernel host the deadlines of its stops, which it has by itself, and of its starts', () => {
    const limits = kernelLimits((name) => defaults[name]);
    expect(limits).toEqual({ stop: STOP_DEADLINES, readyWithinMs: 58_000 });
  });

  it('give the pool what it has by itself, in its own units', () => {
    expect(poolSettings((name) => defaults[name])).toEqual(defaultSettings);
  });
});
