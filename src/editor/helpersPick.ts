import * as vscode from 'vscode';
import type { PreludeHelper } from '../kernel/kernel';
import { openSetting } from './openSetting';
import { PRELUDE_SETTING } from './python/prelude';

interface HelperItem extends vscode.QuickPickItem {
  readonly helper?: PreludeHelper;
}

const INSPECT = 'Show its whole documentation in the panel';

interface HelpersPick {
  /** What the prelude of a session offers. Rejects when it can't be told. */
  helpers(): Promise<readonly PreludeHelper[]>;
  insert(helper: PreludeHelper): unknown;
  inspect(helper: PreludeHelper): unknown;
}

/** Lists what the prelude of a session defines, by category: choosing one writes its call, its button explains it. */
export async function showHelpers(pick: HelpersPick): Promise<void> {
  const helpers = await vscode.window.withProgress(
    { location: vscode.ProgressLocation.Window, title: 'Looking at the helpers' },
    () => pick.helpers(),
  );
  if (helpers.length === 0) return offerSetting();
  const quickPick = vscode.window.createQuickPick<HelperItem>();
  quickPick.title = "Helpers of the Session's Prelude";
  quickPick.placeholder = 'Enter writes the call at the cursor';
  quickPick.matchOnDescription = quickPick.matchOnDetail = true;
  quickPick.items = itemsOf(helpers);
  quickPick.onDidAccept(() => {
    const [chosen] = quickPick.selectedItems;
    quickPick.hide();
    if (chosen?.helper) pick.insert(chosen.helper);
  });
  quickPick.onDidTriggerItemButton(({ item }) => {
    quickPick.hide();
    if (item.helper) pick.inspect(item.helper);
  });
  quickPick.onDidHide(() => quickPick.dispose());
  quickPick.show();
}

function itemsOf(helpers: readonly PreludeHelper[]): HelperItem[] {
  const categories = new Set(helpers.map(({ category }) => category));
  return [...categories].flatMap((category) => [
    { label: category, kind: vscode.QuickPickItemKind.Separator },
    ...helpers.filter((helper) => helper.category === category).map(itemOf),
  ]);
}

function itemOf(helper: PreludeHelper): HelperItem {
  return {
    label: helper.name,
    description: helper.signature,
    detail: helper.docstring,
    helper,
    buttons: [{ iconPath: new vscode.ThemeIcon('question'), tooltip: INSPECT }],
  };
}

async function offerSetting(): Promise<void> {
  const open = 'Open Settings';
  const chosen = await vscode.window.showInformationMessage(
    `This session has no helpers. Files that the setting "${PRELUDE_SETTING}" names run at the start of each session, and what they define is listed here.`,
    open,
  );
  if (chosen === open) await openSetting(PRELUDE_SETTING);
}
