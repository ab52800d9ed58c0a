import * as vscode from 'vscode';
import type { HoldfastApi, HoldfastClient } from '../../../src/api';

/** What the tests get of it. */
export interface Sample {
  readonly api: HoldfastApi;
  /** A client that lives as long as what is pushed into these. */
  connect(subscriptions: { dispose(): unknown }[]): HoldfastClient;
}

/** An extension as others would write it: what it has of Holdfast goes with its context. */
export async function activate(context: vscode.ExtensionContext): Promise<Sample> {
  const holdfast = vscode.extensions.getExtension<HoldfastApi>('holdfast.holdfast');
  const api = await holdfast?.activate();
  if (api?.version !== 1) throw new Error('Holdfast is not there, or is another.');
  return {
    api,
    connect: (subscriptions) => api.for({ extension: context.extension, subscriptions }),
  };
}
