import { codeOf, messageOf } from '../../base/errors';
import { asOutput, type KernelOutput } from '../../kernel/output';
import { OutputLog } from '../../pool/outputLog';
import type { ExecutionResult } from '../../pool/types';
import { outputOf } from '../../runner/hooks';
import type { BackgroundRequest, BackgroundSnapshot, OnOutput } from '../../runner/backgroundTypes';
import type { Transcript } from '../panel/transcript';
import type { PastRun } from './earlierOutput';
import { keyOf, labelOf } from './session';

interface Seen {
  readonly log: OutputLog;
  /** The last that the code showed. */
  traceback: string | undefined;
  /** How its kernel died under it. */
  death?: string;
}

/** Shows background runs in the panel, each in a tab of its own, and knows what came of them as a result. */
export class RunDisplay {
  private readonly seen = new Map<string, Seen>();

  constructor(
    private readonly transcript: Pick<
      Transcript,
      'begin' | 'started' | 'output' | 'sessionOutput' | 'finished'
    >,
    private readonly parts: {
      /** This window. */
      readonly ownerId: string;
      maxOutputBytes(): number;
    },
  ) {}

  begin(request: BackgroundRequest): void {
    const { executionId, code, source, startedAt } = request;
    const { ownerId = this.parts.ownerId, ownerName = ownerId } = request;
    this.transcript.begin({
      executionId,
      sessionKey: keyOf(request),
      sessionLabel: labelOf(request),
      code,
      language: 'python',
      owner: ownerId === this.parts.ownerId ? null : ownerName,
      queuedAt: startedAt,
      ...(source && { source }),
    });
  }

  started({ executionId }: BackgroundRequest, at: number): void {
    this.transcript.started(executionId, at);
  }

  /** Takes output on its way. */
  shown({ executionId }: BackgroundRequest, onOutput: OnOutput): OnOutput {
    const seen: Seen = { log: new OutputLog(this.parts.maxOutputBytes()), traceback: undefined };
    this.seen.set(executionId, seen);
    return (piece) => {
      const output = asOutput(piece);
      if (output.type === 'error') seen.traceback = output.traceback;
      seen.log.add(output);
      this.transcript.output(executionId, output);
      onOutput(piece);
    };
  }

  /** Remembers, of a run that fails with its kernel's death, how that died: the engine keeps such things to itself. */
  async witness<T>({ executionId }: BackgroundRequest, run: Promise<T>): Promise<T> {
    try {
      return await run;
    } catch (error) {
      const seen = this.seen.get(executionId);
      if (seen && codeOf(error) === 'kernel_died') {
        seen.death = `${messageOf(error)} Whether this run had completed is uncertain.`;
      }
      throw error;
    }
  }

  late(
    request: BackgroundRequest,
    late: { readonly executionId: string | undefined; readonly output: KernelOutput },
  ): void {
    const { executionId, output } = late;
    if (executionId === request.executionId) this.transcript.output(executionId, output);
    else this.transcript.sessionOutput(keyOf(request), output);
  }

  /** What there was before this window. */
  earlier(request: BackgroundRequest, { loose, startedAt }: PastRun): void {
    this.begin(request);
    for (const output of loose) this.transcript.sessionOutput(keyOf(request), output);
    this.started(request, startedAt ?? request.startedAt);
  }

  failed({ executionId }: BackgroundRequest, failure: string): void {
    this.transcript.finished(executionId, { at: Date.now(), failure });
  }

  /** Its whole output came at once, from no kernel. */
  supplied({ executionId }: BackgroundRequest, result: ExecutionResult, at: number): void {
    for (const output of outputOf(result)) this.transcript.output(executionId, output);
    this.transcript.finished(executionId, { at, result });
  }

  finished(snapshot: BackgroundSnapshot): void {
    const { executionId, endedAt = Date.now(), artifact } = snapshot;
    const remark = this.remarkOn(snapshot);
    this.transcript.finished(executionId, {
      at: endedAt,
      result: {
        ...verdictOf(snapshot),
        ...(artifact !== undefined && { artifact }),
        ...(remark !== undefined && { notes: [remark] }),
      },
    });
  }

  /** Once: what is known beside the snapshot is forgotten then. */
  resultOf(snapshot: BackgroundSnapshot): ExecutionResult {
    const { executionId } = snapshot;
    const result = this.result(snapshot, verdictOf(snapshot), this.remarkOn(snapshot));
    this.seen.delete(executionId);
    return result;
  }

  /** Of one that goes on while its window leaves. */
  leftBehind(snapshot: BackgroundSnapshot): ExecutionResult {
    return this.result(snapshot, INTERRUPTED, 'It went on when its window closed.');
  }

  private result(
    { executionId, artifact }: BackgroundSnapshot,
    verdict: Verdict,
    remark: string | undefined,
  ): ExecutionResult {
    const { log } = this.seen.get(executionId) ?? { log: new OutputLog(0) };
    if (remark !== undefined) log.closing(remark);
    return {
      ...log.summary(),
      ...verdict,
      stdinRequested: false,
      ...(artifact !== undefined && { artifact }),
      ...(remark !== undefined && { notes: [remark] }),
    };
  }

  /** An error that the code has shown itself is not said again. */
  private remarkOn({ executionId, error }: BackgroundSnapshot): string | undefined {
    const { traceback, death } = this.seen.get(executionId) ?? {};
    return death ?? (error === traceback ? undefined : error);
  }
}

type Verdict = Pick<ExecutionResult, 'cancelled' | 'exitCode'>;

const INTERRUPTED: Verdict = { cancelled: true, exitCode: undefined };

function verdictOf({ status }: BackgroundSnapshot): Verdict {
  if (status === 'interrupted') return INTERRUPTED;
  return { cancelled: false, exitCode: status === 'done' ? 0 : 1 };
}
