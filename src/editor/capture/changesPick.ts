import { basename } from 'node:path';
import * as vscode from 'vscode';
import type { CapturedFile, CapturedState, CaptureRecord } from './record';
import type { CaptureStore } from './store';
import { changesInWords, noChangeInWords, stateInWords } from './words';

const SCHEME = 'holdfast-capture';
const EMPTY = 'empty';

/** Gives the two sides of a diff, read-only, out of what captures have kept. */
export function provideCapturedTexts(store: Pick<CaptureStore, 'text'>): vscode.Disposable {
  return vscode.workspace.registerTextDocumentContentProvider(SCHEME, {
    provideTextDocumentContent({ query }) {
      const [id = '', sha256 = EMPTY] = query.split('/');
      return sha256 === EMPTY ? '' : store.text(id, sha256);
    },
  });
}

/** Asks for a capture, unless one is given, then for one of its files, and shows what the run did to it. */
export async function showChanges(
  store: Pick<CaptureStore, 'list'>,
  given?: CaptureRecord,
): Promise<void> {
  const record = given ?? (await pickCapture(await store.list()));
  if (!record) return;
  if (record.files.length === 0) {
    void vscode.window.showInformationMessage(
      [`Of this run: ${noChangeInWords(record)}.`, ...record.notes].join(' '),
    );
    return;
  }
  const file = await pickFile(record);
  if (file) await showFile(record, file);
}

async function pickCapture(records: readonly CaptureRecord[]): Promise<CaptureRecord | undefined> {
  if (records.length === 0) {
    void vscode.window.showInformationMessage(
      'No run with capture is kept for this workspace. "Run with Capture" makes one.',
    );
    return undefined;
  }
  const items = records.map((record) => ({
    label: firstLine(record.code),
    description: changesInWords(record.files),
    detail: [
      new Date(record.startedAt).toLocaleString(),
      record.session.label,
      ...(record.source ? [`${basename(record.source.file)}:${record.source.line}`] : []),
    ].join(' · '),
    record,
  }));
  const title = 'Captured Changes';
  const chosen = await vscode.window.showQuickPick(items, {
    title,
    placeHolder: 'The changes of which run?',
    matchOnDescription: true,
    matchOnDetail: true,
  });
  return chosen?.record;
}

const icons = {
  created: '$(diff-added)',
  changed: '$(diff-modified)',
  deleted: '$(diff-removed)',
} as const;

async function pickFile({ files, code, notes }: CaptureRecord): Promise<CapturedFile | undefined> {
  const items = files.map((file) => ({
    label: `${icons[file.kind]} ${file.path}`,
    description: file.isSavedInEditor ? `${file.kind} · saved in the editor meanwhile` : file.kind,
    file,
  }));
  const chosen = await vscode.window.showQuickPick(items, {
    title: `Changed by: ${firstLine(code)}`,
    placeHolder: notes.join(' ') || 'Show what the run did to which file?',
    matchOnDescription: true,
  });
  return chosen?.file;
}

async function showFile(record: CaptureRecord, file: CapturedFile): Promise<void> {
  const { before, after, path, kind } = file;
  if (!isShown(before) || !isShown(after)) {
    void vscode.window.showInformationMessage(stateInWords(file));
    return;
  }
  await vscode.commands.executeCommand(
    'vscode.diff',
    uriOf(record, path, 'before', before),
    uriOf(record, path, 'after', after),
    `${basename(path)} (${kind} by a run)`,
  );
}

/** A side where the file was not is empty. */
function isShown(state: CapturedState | undefined): boolean {
  return state === undefined || state.isKept;
}

function uriOf(
  { id }: CaptureRecord,
  path: string,
  side: 'before' | 'after',
  state: CapturedState | undefined,
): vscode.Uri {
  const query = `${id}/${state?.sha256 ?? EMPTY}`;
  return vscode.Uri.from({ scheme: SCHEME, path: `/${side}/${path}`, query });
}

function firstLine(code: string): string {
  return (code.split('\n').find((line) => line.trim() !== '') ?? '').trim().slice(0, 120);
}
