import * as vscode from 'vscode';
import type { Disposable } from '../../base/disposable';
import type { SessionSnapshot } from '../../pool/types';
import { pickSession } from '../sessions/pickSession';
import { sessionOfRow } from '../sessions/row';
import type { SessionBook } from '../sessions/sessionBook';
import type { SessionsModel } from '../sessions/sessionsModel';
import { sessionKeyOf } from '../sessions/target';
import type { LeftOut } from './leftOut';
import type { RecordActions } from './recordActions';

interface RecordCommandParts {
  readonly actions: RecordActions;
  readonly leftOut: LeftOut;
  readonly model: SessionsModel;
  readonly book: SessionBook;
  /** Tells the person what failed. */
  onFailure(error: unknown): void;
}

/** Menus of the Sessions tree pass the id of a row. */
export function registerRecordCommands(parts: RecordCommandParts): Disposable {
  const { actions, leftOut, model, book, onFailure } = parts;
  const command = (name: string, act: (row: unknown) => Promise<void>): Disposable =>
    vscode.commands.registerCommand(name, (row: unknown) => act(row).catch(onFailure));
  const labelOf = (session: SessionSnapshot): string => book.labelOf(session);
  const sessionFor = (row: unknown, isLeftOut: boolean, question: string) => {
    const named = model.withId(sessionOfRow(row) ?? '');
    if (named) return named;
    const able = model
      .sessions()
      .filter((session) => leftOut.has(sessionKeyOf(session)) === isLeftOut);
    return pickSession(able, labelOf, question);
  };
  return vscode.Disposable.from(
    command('holdfast.clearTranscripts', () => actions.clearAll()),
    command('holdfast.leaveOutTranscript', async (row) => {
      const session = await sessionFor(row, false, 'Whose transcript is not to be kept?');
      if (session) await actions.leaveOut(sessionKeyOf(session), labelOf(session));
    }),
    command('holdfast.keepTranscript', async (row) => {
      const session = await sessionFor(row, true, 'Whose transcript is to be kept again?');
      if (session) await actions.keep(sessionKeyOf(session));
    }),
  );
}
