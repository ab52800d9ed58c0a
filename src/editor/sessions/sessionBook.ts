import { Emitter } from '../../base/event';
import { namespaced, type Language } from '../../kernel/language';
import { sessionKeyOf, type SessionTarget } from './target';

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

  /** Interpreters have changed: what a folder's own session is has to be resolved again. */
  forgetResolved(): void {
    this.ofFolder.clear();
    this.changed.fire();
  }

  /** The session that a document uses, as far as that is known without resolving anything. */
  current(document: string, folder: string): SessionTarget | undefined {
    return this.chosen(document, folder) ?? this.ofFolder.get(folder);
  }

  labelOf(session: Pick<SessionTarget, 'sessionId' | 'cwd' | 'interpreter'>): string {
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

  private remember(target: SessionTarget): void {
    this.targets.set(sessionKeyOf(target), target);
  }
}

/** The last part of a path, for people. */
export function folderName(path: string): string {
  return path.split(/[\\/]/).filter(Boolean).at(-1) ?? path;
}
