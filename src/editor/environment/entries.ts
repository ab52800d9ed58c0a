import { steersEditor } from '../../kernel/environment';

const ENVIRONMENT_SETTING = 'holdfast.environment';
const AGENTS_SETTING = 'holdfast.agents.environment';

/** What could be read, and a sentence for people about each thing that could not. No sentence has a value in it. */
export interface Read<Content> {
  readonly content: Content;
  readonly complaints: readonly string[];
}

/** The entries of the setting that can be used: a value, or null to remove a name. */
export function readEntries(value: unknown): Read<Readonly<Record<string, string | null>>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return unusable(ENVIRONMENT_SETTING, 'is not an object of names and values', {});
  }
  const content: Record<string, string | null> = {};
  const complaints: string[] = [];
  for (const [name, entry] of Object.entries(value as Record<string, unknown>)) {
    const wrong = wrongName(name) ?? wrongValue(entry);
    if (wrong === undefined) content[name] = entry as string | null;
    else complaints.push(entryComplaint(ENVIRONMENT_SETTING, name, wrong));
  }
  return { content, complaints };
}

/** The names of the setting that can be used. */
export function readNames(value: unknown): Read<readonly string[]> {
  if (!Array.isArray(value)) return unusable(AGENTS_SETTING, 'is not a list of names', []);
  const content: string[] = [];
  const complaints: string[] = [];
  for (const [at, entry] of (value as unknown[]).entries()) {
    const wrong = typeof entry === 'string' ? wrongName(entry) : 'it is not a string';
    // What is no name may be a value, which is for nobody to read.
    if (wrong === undefined) content.push(entry as string);
    else complaints.push(entryComplaint(AGENTS_SETTING, `number ${at + 1}`, wrong));
  }
  return { content, complaints };
}

function wrongName(name: string): string | undefined {
  if (name.trim() === '') return 'its name is empty';
  if (/[=\0]/.test(name)) return 'its name has a character that no name can have';
  return steersEditor(name) ? 'it steers the editor, and no kernel ever gets it' : undefined;
}

function wrongValue(value: unknown): string | undefined {
  if (value === null) return undefined;
  if (typeof value !== 'string') return 'its value is neither a string nor null';
  return value.includes('\0') ? 'its value has a character that no value can have' : undefined;
}

function entryComplaint(setting: string, entry: string, wrong: string): string {
  const name = entry.replace(/=.*$/s, '=…');
  return `The setting "${setting}" has an entry that cannot be used, ${JSON.stringify(name)}: ${wrong}. The session starts without it.`;
}

function unusable<Content>(setting: string, wrong: string, content: Content): Read<Content> {
  return {
    content,
    complaints: [`The setting "${setting}" ${wrong}. The session starts without it.`],
  };
}
