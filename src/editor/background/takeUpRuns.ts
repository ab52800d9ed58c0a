import { HoldfastError, messageOf } from '../../base/errors';
import type { Log } from '../../base/log';
import type { Adoption, Place } from '../../hosting';
import type { PooledKernel } from '../../kernel/kernel';
import type {
  BackgroundKernel,
  BackgroundOutcome,
  BackgroundRequest,
  BackgroundSnapshot,
  EarlierBackgroundRun,
  OnOutput,
} from '../../runner/backgroundTypes';
import { asOutput } from '../../kernel/output';
import { HEAD_LIMIT } from '../../runner/headBuffer';
import { backgroundKernelOf, outcomeOfReply, resumed } from '../../runner/pooledBackground';
import { keptKeys } from '../reload/keep';
import { headOfArtifact } from './artifactFolder';
import { headTextOfAll, missingBytes, pastRunOf, withHead, type PastRun } from './earlierOutput';
import { parseKeptRuns, snapshotOf, type GoingRun, type OverRun } from './keptRuns';
import type { RunDisplay } from './runDisplay';
import { keyOf, sessionOf } from './session';

const ANSWER_WITHIN_MS = 5_000;
/** Enough for the head of a run's output, in characters of up to four bytes. */
const HEAD_BYTES = 4 * HEAD_LIMIT;

interface TakeUpRunsParts {
  readonly ownerId: string;
  readonly log: Log;
  readonly display: RunDisplay;
  keep(key: string, value: unknown): void;
  /** Looks after a kernel that is still there. */
  attend(request: BackgroundRequest, kernel: PooledKernel): void;
  /** It goes on, with this kernel. */
  goOn(
    run: GoingRun,
    kernel: BackgroundKernel,
    resume: EarlierBackgroundRun['resume'],
  ): Promise<void>;
  /** Its code was never sent, and a person waits for it. */
  startAgain(request: BackgroundRequest): void;
}

/** Takes up the background runs of the window before this one: those that go on, and what came of those that are over. */
export async function takeUpRuns(
  adoption: Adoption,
  parts: TakeUpRunsParts,
): Promise<{ readonly places: readonly Place[]; readonly over: readonly BackgroundSnapshot[] }> {
  const places: Place[] = [];
  const over: BackgroundSnapshot[] = [];
  for (const run of parseKeptRuns(adoption.kept, parts.ownerId)) {
    const past = pastRunOf(
      run.request.executionId,
      adoption.histories.get(keyOf(run.request)) ?? [],
    );
    if (run.kind === 'over') over.push(await showAgain(run, past, parts));
    else if (run.phase === 'running') places.push(await goOn(run, past, adoption, parts));
    else giveUpStart(run, parts);
  }
  return { places, over };
}

async function showAgain(
  run: OverRun,
  past: PastRun,
  { display, log, keep }: TakeUpRunsParts,
): Promise<BackgroundSnapshot> {
  const { request } = run;
  // Its owner is this window now, if it was that one.
  keep(keptKeys.background(request.executionId), run);
  const fill = withHead(await headFor(run, past, log));
  const outputs = past.outputs.flatMap((output) => fill(output));
  display.earlier(request, past);
  const show = display.shown(request, () => undefined);
  for (const output of outputs) show(output);
  const snapshot = snapshotOf(run, headTextOfAll(outputs));
  display.finished(snapshot);
  // It was recorded when it ended.
  display.resultOf(snapshot);
  return snapshot;
}

async function goOn(
  run: GoingRun,
  past: PastRun,
  adoption: Adoption,
  { display, log, ...parts }: TakeUpRunsParts,
): Promise<Place> {
  const { request } = run;
  const { executionId } = request;
  const { place } = sessionOf(request);
  const kernel = await adoption.reattach(place, AbortSignal.timeout(ANSWER_WITHIN_MS));
  const head = await headFor(run, past, log);
  display.earlier(request, past);
  const filled = (onOutput: OnOutput): OnOutput => {
    const fill = withHead(head);
    const show = display.shown(request, onOutput);
    return (piece) => fill(asOutput(piece)).forEach(show);
  };
  if (kernel) {
    parts.attend(request, kernel);
    await parts.goOn(run, backgroundKernelOf(kernel, executionId), ({ onOutput }) =>
      display.witness(request, resumed(kernel, executionId, filled(onOutput))),
    );
  } else {
    // It ended while nobody was there; what it said until then is known all the same.
    await parts.goOn(run, noKernel, ({ onOutput }) =>
      display.witness(request, outcomeOf(past, filled(onOutput))),
    );
  }
  return place;
}

async function outcomeOf({ outputs, reply }: PastRun, take: OnOutput): Promise<BackgroundOutcome> {
  let traceback: string | undefined;
  for (const output of outputs) {
    if (output.type === 'error') traceback = output.traceback;
    take(output);
  }
  if (reply && !reply.cancelled) return outcomeOfReply(reply, traceback);
  const message = 'The kernel ended while the window was away.';
  return Promise.reject(new HoldfastError('kernel_died', message));
}

function giveUpStart({ request }: GoingRun, { keep, startAgain }: TakeUpRunsParts): void {
  keep(keptKeys.background(request.executionId), undefined);
  // Tools and programs that asked have died with their window.
  if (request.origin === 'person' || request.origin === undefined) startAgain(request);
}

/** What stands in the file where the kernel host has let go of the beginning. */
async function headFor(run: GoingRun | OverRun, past: PastRun, log: Log): Promise<string> {
  const { artifact } = run;
  const missing = missingBytes(past.outputs);
  const isInStep = run.kind === 'over' || run.leftOut === 0;
  if (artifact === undefined || missing === 0 || !isInStep) return '';
  try {
    return await headOfArtifact(artifact, Math.min(missing, HEAD_BYTES));
  } catch (error) {
    log.warn(`The beginning of ${artifact} is not shown again: ${messageOf(error)}`);
    return '';
  }
}

const noKernel: BackgroundKernel = {
  execute: () => Promise.resolve({}),
  interrupt: () => Promise.resolve(undefined),
  kill: () => Promise.resolve(),
  shutdown: () => Promise.resolve(),
};
