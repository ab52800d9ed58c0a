import { promises as fs } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import ignore, { type Ignore } from 'ignore';
import { isOfSystem } from './systemErrors';

/** Files with rules of what does not count, in each folder. `.ignore` is what search tools go by besides git's. */
const ruleFiles = ['.gitignore', '.ignore'];
const versionControl = ['.git', '.hg', '.svn', '.jj'];
const MAX_PARENTS = 16;

interface Rules {
  /** From the folder of these rules down to the walk's root, with a slash at the end; or empty. */
  readonly above: string;
  /** From the walk's root down to the folder of these rules; or empty. */
  readonly below: string;
  readonly matcher: Ignore;
}

/**
 * What does not count within one folder of a walk, as git decides it: the rules of deeper folders come last, and what is
 * in an ignored folder stays ignored. Paths are relative to the walk's root, with slashes.
 */
export class IgnoreRules {
  private constructor(private readonly layers: readonly Rules[]) {}

  /** The rules from outside of the walk: of the folders above the root, up to its repository's own, and of the editor. */
  static async atRoot(root: string, globs: readonly string[]): Promise<IgnoreRules> {
    const layers: Rules[] = [];
    for (const { folder, above, names } of await foldersAbove(root)) {
      const text = await rulesIn(folder, names);
      if (text !== '') layers.push({ above, below: '', matcher: matcherOf(text) });
    }
    if (globs.length > 0) {
      const patterns = globs.flatMap(patternsOf);
      layers.push({ above: '', below: '', matcher: ignore().add(patterns) });
    }
    return new IgnoreRules(layers);
  }

  /** The rules within a folder of the walk, `names` being the files in it. */
  async within(root: string, folder: string, names: ReadonlySet<string>): Promise<IgnoreRules> {
    const found = ruleFiles.filter((name) => names.has(name));
    if (found.length === 0) return this;
    const matcher = matcherOf(await rulesIn(join(root, folder), found));
    return new IgnoreRules([...this.layers, { above: '', below: folder, matcher }]);
  }

  ignores(path: string, isFolder: boolean): boolean {
    if (isFolder && versionControl.includes(basename(path))) return true;
    let isIgnored = false;
    for (const { above, below, matcher } of this.layers) {
      const own = below === '' ? above + path : path.slice(below.length + 1);
      const { ignored, unignored } = matcher.test(isFolder ? `${own}/` : own);
      if (ignored) isIgnored = true;
      if (unignored) isIgnored = false;
    }
    return isIgnored;
  }
}

function matcherOf(text: string): Ignore {
  return ignore({ ignorecase: process.platform !== 'linux' }).add(text);
}

interface FolderAbove {
  readonly folder: string;
  readonly above: string;
  readonly names: readonly string[];
}

/** From the repository's top folder down to the parent of the root. Empty outside of a repository. */
async function foldersAbove(root: string): Promise<readonly FolderAbove[]> {
  const folders: FolderAbove[] = [];
  let below = '';
  let at = root;
  for (let steps = 0; steps < MAX_PARENTS; steps++) {
    if (await exists(join(at, '.git'))) {
      // Rules that git keeps for one clone alone.
      const info = { folder: join(at, '.git', 'info'), above: below, names: ['exclude'] };
      return [info, ...folders];
    }
    const parent = dirname(at);
    if (parent === at) return [];
    below = `${basename(at)}/${below}`;
    folders.unshift({ folder: parent, above: below, names: ruleFiles });
    at = parent;
  }
  return [];
}

async function rulesIn(folder: string, names: readonly string[]): Promise<string> {
  const texts = await Promise.all(names.map(async (name) => readIfThere(join(folder, name))));
  return texts.filter(Boolean).join('\n');
}

async function readIfThere(file: string): Promise<string> {
  try {
    return await fs.readFile(file, 'utf8');
  } catch (error) {
    if (isOfSystem(error)) return '';
    throw error;
  }
}

async function exists(path: string): Promise<boolean> {
  return fs.stat(path).then(
    () => true,
    () => false,
  );
}

/** The editor's globs (`files.exclude`) as git's rules: without `**` in front they begin at the root; braces are alternatives. */
export function patternsOf(glob: string): string[] {
  return alternatives(glob).map((each) => (each.startsWith('**/') ? each : `/${each}`));
}

function alternatives(glob: string): string[] {
  const braces = /\{([^{}]*)\}/.exec(glob);
  if (!braces) return [glob];
  const [whole, inner = ''] = braces;
  const before = glob.slice(0, braces.index);
  const after = glob.slice(braces.index + whole.length);
  return inner.split(',').flatMap((one) => alternatives(before + one + after));
}
