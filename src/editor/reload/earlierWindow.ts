import * as vscode from 'vscode';
import { messageOf } from '../../base/errors';
import type { Later } from '../../base/lazy';
import type { Adoption, KernelHosting } from '../../hosting';
import type { BackgroundWork } from '../background/backgroundWork';
import type { Python } from '../python';
import type { Hosts } from './hosts';
import { keptKeys } from './keep';
import type { LiveSessions } from './liveSessions';
import { takeUp, type TakenUp, type TakeUpParts } from './takeUp';

const WAITS_FOR_HOST_MS = 2_000;

/** Where to look, and who gets what is found: the background runs first, the rest is for `takeUp`. */
interface EarlierWindowParts extends Omit<TakeUpParts, 'preludes' | 'otherPlaces'> {
  readonly hosts: Pick<Hosts, 'toTakeUpSoon' | 'look'>;
  readonly kernelHost: Later<Pick<KernelHosting, 'adopt' | 'keep'>>;
  readonly liveSessions: Pick<LiveSessions, 'lost'>;
  readonly background: Pick<BackgroundWork, 'takeUp'>;
  readonly python: { get(): Promise<Pick<Python, 'preludes'>> };
  onFailure(error: unknown): void;
}

/**
 * What the window before this one has left, if it can be told which window that was: else, and where it cannot be taken
 * up, what is lost with it. Does not reject for that.
 */
export async function takeUpEarlierWindow(parts: EarlierWindowParts): Promise<TakenUp> {
  const { hosts, kernelHost, liveSessions, background, python, onFailure, log } = parts;
  if (!vscode.workspace.isTrusted) return {};
  const found = await hosts.toTakeUpSoon(WAITS_FOR_HOST_MS);
  if (!found) {
    const staying = (await hosts.look()).filter(
      ({ announced }) => announced.client.state !== 'leaving',
    );
    return { lost: liveSessions.lost(staying.map(({ pid }) => pid)) };
  }
  let adoption: Adoption | undefined;
  try {
    const host = await kernelHost.get();
    adoption = await host.adopt(found);
    // What was another's is this window's now.
    hosts.look().catch(onFailure);
    const { preludes } = await python.get();
    const otherPlaces = await background.takeUp(adoption);
    const takenUp = takeUp(adoption, { ...parts, preludes, otherPlaces });
    // What is not shown again need not be kept again.
    const shown = new Set(parts.transcript.outline().map(({ place }) => keptKeys.shown(place)));
    for (const key of adoption.kept.keys())
      if (key.startsWith(keptKeys.shown('')) && !shown.has(key)) host.keep(key, undefined);
    return takenUp;
  } catch (error) {
    log.warn(`The sessions of the window before are not taken up: ${messageOf(error)}`);
    // Nobody holds what runs there, and nobody would find it.
    adoption?.stopOthers([]);
    for (const key of adoption?.kept.keys() ?? []) kernelHost.made?.keep(key, undefined);
    return { lost: liveSessions.lost([]) };
  }
}
