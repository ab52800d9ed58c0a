import type * as vscode from 'vscode';
import { messageOf } from '../../base/errors';
import type { ExecutionResult } from '../../pool/types';
import type { Place, Runs } from '../runs';
import type { Chat } from './chat';
import type { ChatOwners } from './chatOwners';
import { codeBlocksIn, fenced, plain, type CodeBlock } from './markdown';
import { asRead, OutputText } from './outputText';
import { languageNamed, nameOfLanguage } from './sessionChoice';

/** What an answer shows of an output: its end, as long as a person may want to read it in a chat. */
const SHOWN = 8_000;

const whatItDoes =
  'I run code in the session of your active file, or of the first folder: variables stay, and the Holdfast panel shows ' +
  'everything. Put the code into a fenced block:\n\n' +
  fenced('```python\nprint(1 + 1)\n```');

export interface ParticipantParts {
  readonly runs: Pick<Runs, 'perform'>;
  readonly chats: Pick<ChatOwners, 'begin'>;
  /** Throws where nothing may run. */
  assertAllowed(): void;
  developersPlace(): Place;
  labelOfPlace(place: Place): string;
  /** Learns what a chat is called by now. */
  learnName(chat: Chat): Promise<void>;
  ownerName(ownerId: string): string;
}

type Stream = Pick<vscode.ChatResponseStream, 'markdown' | 'progress' | 'button'>;

/**
 * `@holdfast` runs the fenced blocks of a prompt, which a person has typed, one after the other, until one fails. Reports to
 * the stream, failures too. An abort stops the run.
 */
export async function answer(
  parts: ParticipantParts,
  request: { readonly chat: Chat; readonly prompt: string },
  stream: Stream,
  signal: AbortSignal,
): Promise<void> {
  const answering = await parts.chats.begin(request.chat);
  try {
    parts.assertAllowed();
    const blocks = codeBlocksIn(request.prompt).filter(({ code }) => code.trim() !== '');
    const foreign = blocks.find(({ language }) => language && !languageNamed(language));
    if (blocks.length === 0) stream.markdown(whatItDoes);
    else if (foreign) {
      const known = nameOfLanguage('python');
      stream.markdown(`I run no ${plain(foreign.language)} here, only ${known}. Nothing has run.`);
    } else await runAll(parts, request.chat, blocks, stream, signal);
  } catch (error) {
    stream.markdown(plain(messageOf(error)));
  } finally {
    answering.dispose();
  }
}

async function runAll(
  parts: ParticipantParts,
  chat: Chat,
  blocks: readonly CodeBlock[],
  stream: Stream,
  signal: AbortSignal,
): Promise<void> {
  const to = parts.developersPlace();
  const { ownerId } = chat;
  await parts.learnName(chat);
  const by = { ownerId, origin: 'person', name: parts.ownerName(ownerId) } as const;
  for (const [index, { code }] of blocks.entries()) {
    const which = blocks.length > 1 ? ` block ${index + 1} of ${blocks.length}` : '';
    stream.progress(`Running${which} in ${parts.labelOfPlace(to)}…`);
    const output = new OutputText();
    const onOutput = output.add.bind(output);
    const result = await parts.runs.perform({ code, to, by, signal, onOutput });
    stream.markdown(resultInMarkdown(result, output));
    if (result.cancelled || result.exitCode !== 0) break;
  }
  stream.button({ command: 'holdfast.showPanel', title: 'Show Panel' });
}

function resultInMarkdown(result: ExecutionResult, output: OutputText): string {
  const { cancelled, exitCode, notes = [] } = result;
  const { text: shown, from } = output.tail(0, SHOWN);
  const parts = notes.map((note) => plain(note));
  if (from > 0) parts.push(`The last ${shown.length} of ${output.length} characters:`);
  if (shown !== '') parts.push(fenced(asRead(shown)));
  if (cancelled) parts.push('It was cancelled.');
  else if (exitCode !== 0) parts.push('It ended with an error.');
  else if (shown === '') parts.push('Done. It put out nothing.');
  return `${parts.join('\n\n')}\n\n`;
}
