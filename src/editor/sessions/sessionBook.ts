import { Emitter } from '../../base/event';
import { namespaced, type Language } from '../../kernel/language';
import type { BookContent } from './bookContent';
import { sessionKeyOf, type SessionName, type SessionTarget } from './target';

/** The name under which a folder's own session runs. */
const DEFAULT_NAME = 'default';

export function defaultSessionId(language: Language): string {
  return namespaced(language, DEFAULT_NAME);
}

/**
 * Which session a document uses: the one that a person chose for it, else its folder's own. Remembers what sessions are
 * called. Documents are named by their URI, folders by their path.
 */
export class SessionBook {
  private readonly byDocument = new Map<string, SessionTarget>();
  private readonly byFolder = new Map<string, SessionTarget>();
  private readonly ofFolder = new Map<string, SessionTarget>();
  private readonly targets = new Map<string, SessionTarget>();
  private readonly names = new Map<string, string>();
  private readonly changed = new Emitter<void>();

  /** Some document uses another session than before, or a session is called otherwise. */
  readonly onDidChange = this.changed.event;

  /** A person's choice, for one document, or for every document of a folder that has none of its own. */
  choose(place: { document: string } | { folder: string }, target: SessionTarget): void {
    this.remember(target);
    if ('document' in place) this.byDocument.set(place.document, target);
    else this.byFolder.set(place.folder, target);
    this.changed.fire();
  }

  /** Back to the folder's own session. */
  forgetChoice(document: string, folder: string): void {
    this.byDocument.delete(document);
    this.byFolder.delete(folder);
    this.changed.fire();
  }

  chosen(document: string, folder: string): SessionTarget | undefined {
    return this.byDocument.get(document) ?? this.byFolder.get(folder);
  }

  /** The folder's own session, as it was resolved for a run. */
  resolved(folder: string, target: SessionTarget): void {
    this.remember(target);
    this.ofFolder.set(folder, target);
    this.changed.fire();
  }

  /** A session that nobody's documents use: what it is called. */
  know(target: SessionTarget): void {
    this.remember(target);
    this.changed.fire();
  }

  /** Interpreters have changed: what a folder's own session is has to be resolved again. */
  forgetResolved(): void {
    this.ofFolder.clear();
    this.changed.fire();
  }

  /** The session that a document uses, as far as that is known without resolving anything. */
  current(document: string, folder: string): SessionTarget | undefined {
    return this.chosen(document, folder) ?? this.ofFolder.get(folder);
  }

  labelOf(session: SessionName): string {
    const key = sessionKeyOf(session);
    return this.names.get(key) ?? this.targets.get(key)?.label ?? folderName(session.cwd);
  }

  /** What people call a session from now on. Which session it is stays the same. */
  rename(key: string, name: string): void {
    this.names.set(key, name);
    this.changed.fire();
  }

  /** The session that a key stands for, if it was ever used here. */
  withKey(key: string): SessionTarget | undefined {
    const target = this.targets.get(key);
    return target && { ...target, label: this.names.get(key) ?? target.label };
  }

  /** All of it, for a book that comes after this one. */
  content(): BookContent {
    const keys = (map: ReadonlyMap<string, SessionTarget>): [string, string][] =>
      [...map].map(([name, target]) => [name, sessionKeyOf(target)]);
    return {
      targets: [...this.targets.values()],
      byDocument: keys(this.byDocument),
      byFolder: keys(this.byFolder),
      ofFolder: keys(this.ofFolder),
      names: [...this.names],
    };
  }

  /** Takes over what an earlier book knew. What this one has learned meanwhile is newer. */
  restore({ targets, byDocument, byFolder, ofFolder, names }: BookContent): void {
    for (const { interpreter, ...rest } of targets) {
      const target = { ...rest, interpreter };
      const key = sessionKeyOf(target);
      if (!this.targets.has(key)) this.targets.set(key, target);
    }
    const fill = (map: Map<string, SessionTarget>, pairs: [string, string][]): void => {
      for (const [name, key] of pairs) {
        const target = this.targets.get(key);
        if (target && !map.has(name)) map.set(name, target);
      }
    };
    fill(this.byDocument, byDocument);
    fill(this.byFolder, byFolder);
    fill(this.ofFolder, ofFolder);
    for (const [key, name] of names) if (!this.names.has(key)) this.names.set(key, name);
    this.changed.fire();
  }

  private remember(target: SessionTarget): void {
    this.targets.set(sessionKeyOf(target), target);
  }
}

/** The last part of a path, for people. */
export function folderName(path: string): string {
  return path.split(/[\\/]/).filter(Boolean).at(-1) ?? path;
}
