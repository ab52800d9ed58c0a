import type { SessionSnapshot } from '../../pool/types';
import { abilitiesOf, type Ability } from './abilities';
import { languageInWords, stateInWords } from './words';

/** One entry of the menu behind the status bar: a command, or another session to use. */
export type MenuEntry =
  | { readonly kind: 'command'; readonly id: string; readonly label: string }
  | { readonly kind: 'separator'; readonly label: string }
  | {
      readonly kind: 'use';
      readonly session: SessionSnapshot;
      readonly label: string;
      readonly description: string;
    }
  | { readonly kind: 'useDefault'; readonly label: string };

export interface MenuContext {
  readonly current: SessionSnapshot | undefined;
  /** The file's session waits for a slot. */
  readonly isWaiting: boolean;
  /** Sessions that the file could use instead. */
  readonly others: readonly SessionSnapshot[];
  /** The file uses another session than its folder's own. */
  readonly isChosen: boolean;
  readonly now: number;
  labelOf(session: SessionSnapshot): string;
}

const commandsOf: readonly (readonly [Ability, string, string])[] = [
  ['running', 'interrupt', '$(debug-stop) Interrupt'],
  ['restartable', 'restart', '$(debug-restart) Restart'],
  ['stoppable', 'stop', '$(close) Stop'],
  ['killable', 'kill', '$(trash) Kill'],
  ['retryable', 'retryNow', '$(refresh) Retry the Stop Now'],
  ['forceKillable', 'forceKill', '$(trash) Force Kill'],
  ['forgettable', 'forget', '$(eye-closed) Forget…'],
];

/** What a person can do about the session of the file in front. */
export function menuOf(context: MenuContext): readonly MenuEntry[] {
  const { current, others, isChosen, isWaiting, now, labelOf } = context;
  const abilities = current ? abilitiesOf(current) : [];
  const command = (id: string, label: string): MenuEntry => ({ kind: 'command', id, label });
  return [
    ...(isWaiting ? [command('freeSlot', '$(watch) Free a Slot…')] : []),
    ...commandsOf
      .filter(([ability]) => abilities.includes(ability))
      .map(([, id, label]) => command(id, label)),
    command('showPanel', '$(output) Show Panel'),
    command('showHelpers', '$(book) Show Helpers'),
    { kind: 'separator', label: 'Session of this file' },
    ...others.map((session): MenuEntry => ({
      kind: 'use',
      session,
      label: `$(arrow-swap) Use ${labelOf(session)}`,
      description: `${stateInWords(session, now)} · ${languageInWords(session)}`,
    })),
    ...(isChosen
      ? [{ kind: 'useDefault', label: "$(home) Use the folder's own" } satisfies MenuEntry]
      : []),
    command('newSession', '$(add) New Session…'),
  ];
}
