import type { ExtensionLike, HoldfastApi, HoldfastClient } from '../../api';
import { DisposableStore, type Disposable } from '../../base/disposable';
import { HoldfastError } from '../../base/errors';
import type { Event } from '../../base/event';
import { Client, type ClientParts } from './client';

/** An extension that is there. */
export interface KnownExtension {
  /** `publisher.name`, as its manifest writes it. */
  readonly id: string;
  readonly displayName: string;
}

export interface ClientsParts extends ClientParts {
  /** Undefined: it is not installed, or is disabled. */
  extension(id: string): KnownExtension | undefined;
  /** Some extension came or went. */
  readonly onDidChangeExtensions: Event<void>;
}

const PREFIX = 'extension:';

/** What an owner is called, where it is an extension. */
export function nameOfOwner(
  ownerId: string,
  extension: ClientsParts['extension'],
): string | undefined {
  if (!ownerId.startsWith(PREFIX)) return undefined;
  const id = ownerId.slice(PREFIX.length);
  return extension(id)?.displayName ?? id;
}

/** The clients that are open, one for each extension. An extension that is gone is let go of. */
export class Clients implements Disposable {
  /** What other extensions get in hand: no more than is in its type. */
  readonly api: HoldfastApi = Object.freeze({
    version: 1 as const,
    for: (extension: string | ExtensionLike) => this.for(extension),
  });
  private readonly store = new DisposableStore();
  private readonly open = new Map<string, Client>();
  private readonly leaving = new Set<string>();

  constructor(private readonly parts: ClientsParts) {
    this.store.add(parts.onDidChangeExtensions(() => this.letGoOfGone()));
    // Also owners of the window before this one, whose extension may not have come back.
    this.store.add(parts.model.onDidChange(() => this.letGoOfGone()));
    this.store.add(parts.background.onDidChange(() => this.letGoOfGone()));
  }

  dispose(): void {
    this.store.dispose();
  }

  private for(extension: string | ExtensionLike): HoldfastClient {
    const { id, subscriptions } = extensionOf(extension);
    const known = this.parts.extension(id);
    if (!known) {
      throw new HoldfastError('bad_input', `There is no extension ${JSON.stringify(id)} here.`);
    }
    const ownerId = PREFIX + known.id;
    const client = this.open.get(ownerId) ?? this.make(ownerId, known.displayName);
    subscriptions?.push(client);
    return client;
  }

  private make(ownerId: string, name: string): Client {
    const onDispose = (): void => void this.open.delete(ownerId);
    const client = new Client({ ownerId, name, onDispose }, this.parts);
    this.open.set(ownerId, client);
    return client;
  }

  private letGoOfGone(): void {
    const gone = [...this.open].filter(([ownerId]) => this.isGone(ownerId));
    for (const [ownerId, client] of gone) {
      client.dispose();
      this.close(ownerId);
    }
    for (const ownerId of this.holders()) if (this.isGone(ownerId)) this.close(ownerId);
  }

  private holders(): readonly string[] {
    const { model, background } = this.parts;
    const owners = model.sessions().flatMap((session) => session.owners);
    const running = background.list().filter(({ done }) => !done);
    return [
      ...owners.filter(({ kind }) => kind === 'explicit').map(({ id }) => id),
      ...running.flatMap(({ request: { ownerId } }) => (ownerId === undefined ? [] : [ownerId])),
    ];
  }

  private isGone(ownerId: string): boolean {
    return ownerId.startsWith(PREFIX) && !this.parts.extension(ownerId.slice(PREFIX.length));
  }

  private close(ownerId: string): void {
    if (this.leaving.has(ownerId)) return;
    this.leaving.add(ownerId);
    this.parts.door
      .close(ownerId)
      .catch((error: unknown) =>
        this.parts.log.error(`Not all that ${ownerId} held could be let go of.`, error),
      )
      .finally(() => this.leaving.delete(ownerId));
  }
}

function extensionOf(value: unknown): {
  readonly id: string;
  readonly subscriptions?: ExtensionLike['subscriptions'];
} {
  if (typeof value === 'string') return { id: value };
  const context = value as Partial<ExtensionLike> | null | undefined;
  const id: unknown = context?.extension?.id;
  const subscriptions = context?.subscriptions;
  if (typeof id === 'string' && typeof subscriptions?.push === 'function') {
    return { id, subscriptions };
  }
  throw new HoldfastError(
    'bad_input',
    "Pass your extension's context, or its id (publisher.name).",
  );
}
