import * as v from 'valibot';
import { readEntries, readNames } from '../environment/entries';
import { defaults, settings, type SettingName } from '../settings';

/** The settings that differ from what they are by themselves, one in a line. Of the environment only names are told. */
export function changedSettings(valueOf: (name: SettingName) => unknown): readonly string[] {
  return (Object.keys(settings) as SettingName[]).flatMap((name) => {
    const value = valueOf(name);
    const isDefault = JSON.stringify(value) === JSON.stringify(defaults[name]);
    return isDefault ? [] : [`holdfast.${name}: ${inWords(name, value)}`];
  });
}

function inWords(name: SettingName, value: unknown): string {
  if (name === 'environment') return names(Object.keys(readEntries(value).content));
  if (name === 'agents.environment') return names(readNames(value).content);
  // Whatever else stands there may be anything.
  return v.is(settings[name], value) ? JSON.stringify(value) : `not usable (${typeof value})`;
}

function names(all: readonly string[]): string {
  // What does not look like a name may be a value in its place.
  const shown = all.map((name) => (/^[A-Z_a-z][\w()]*$/.test(name) ? name : '(not a name)'));
  return shown.length === 0 ? 'nothing usable' : `${shown.length}: ${shown.join(', ')}`;
}
