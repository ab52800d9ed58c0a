import * as v from 'valibot';
import { NotificationType, RequestType } from 'vscode-jsonrpc/node';
import type { Schema } from './parse';
import {
  codeSource,
  executionReply,
  interruptVerdict,
  kernelExit,
  kernelOutput,
  shutdownOutcome,
  stopProgress,
} from './vocabulary';

/** Raised when a message changes its meaning. The two sides are of one version or do not talk. */
export const PROTOCOL_VERSION = 1;

export interface RequestMessage<P extends Schema, R extends Schema> {
  readonly type: RequestType<v.InferInput<P>, v.InferInput<R>, unknown>;
  readonly params: P;
  readonly result: R;
}

export interface NotificationMessage<P extends Schema> {
  readonly type: NotificationType<v.InferInput<P>>;
  readonly params: P;
}

function request<P extends Schema, R extends Schema>(
  method: string,
  params: P,
  result: R,
): RequestMessage<P, R> {
  return { type: new RequestType(method), params, result };
}

function notification<P extends Schema>(method: string, params: P): NotificationMessage<P> {
  return { type: new NotificationType(method), params };
}

/** A kernel's name on one connection, chosen by the client, never used twice. */
const kernel = v.string();
const nothing = v.object({});

/** Starts a kernel. Cancelled: the start is undone before the request ends. */
export const startKernel = request(
  'kernel/start',
  v.object({
    kernel,
    language: v.picklist(['python']),
    interpreter: v.string(),
    cwd: v.string(),
    /** The kernel's whole environment. */
    env: v.record(v.string(), v.string()),
  }),
  v.object({
    pid: v.number(),
    /** With the pid it names the process for good; absent where the system does not tell. */
    startTime: v.exactOptional(v.string()),
    description: v.string(),
  }),
);

/** Ends when the code has run. All output of the run is sent before the answer. */
export const execute = request(
  'kernel/execute',
  v.object({
    kernel,
    execution: v.string(),
    code: v.string(),
    source: v.exactOptional(codeSource),
    /** Somebody can answer `input()`. */
    stdin: v.boolean(),
  }),
  executionReply,
);

/** The run is no longer wanted: it is interrupted, and not heeded, its kernel is killed. */
export const abortExecution = notification(
  'kernel/abort',
  v.object({ kernel, execution: v.string() }),
);

export const interrupt = request(
  'kernel/interrupt',
  v.object({ kernel, execution: v.exactOptional(v.string()) }),
  interruptVerdict,
);

export const shutdownKernel = request(
  'kernel/shutdown',
  v.object({ kernel, timeoutMs: v.exactOptional(v.number()) }),
  shutdownOutcome,
);

export const killKernel = request('kernel/kill', v.object({ kernel }), shutdownOutcome);

export const measureMemory = request(
  'kernel/memory',
  v.object({ kernel }),
  v.object({ bytes: v.nullable(v.number()) }),
);

/** Answers a question; `null` is end of file. */
export const answerInput = notification(
  'kernel/answer',
  v.object({ kernel, question: v.number(), text: v.nullable(v.string()) }),
);

/** Everything up to this batch has been taken: the host may send as much again. */
export const acknowledgeOutput = notification(
  'kernel/taken',
  v.object({ kernel, seq: v.number() }),
);

/** The client leaves for good: the host stops everything and ends, which closes the connection. */
export const goodbye = request('host/goodbye', nothing, nothing);

export const output = notification(
  'kernel/output',
  v.object({
    kernel,
    /** Counts the kernel's batches from 1 without a gap. */
    seq: v.number(),
    items: v.array(v.object({ execution: v.nullable(v.string()), output: kernelOutput })),
  }),
);

/** The code asks a person. */
export const question = notification(
  'kernel/question',
  v.object({
    kernel,
    execution: v.string(),
    question: v.number(),
    prompt: v.string(),
    password: v.boolean(),
  }),
);

/** An answer is no longer wanted. */
export const questionOver = notification(
  'kernel/questionOver',
  v.object({ kernel, question: v.number() }),
);

export const stopStep = notification(
  'kernel/stopStep',
  v.object({ kernel, progress: stopProgress }),
);

/** The last word about a kernel; its output was sent before. */
export const exited = notification('kernel/exited', v.object({ kernel, exit: kernelExit }));

export const hostLog = notification(
  'host/log',
  v.object({
    level: v.picklist(['trace', 'debug', 'info', 'warn', 'error']),
    message: v.string(),
  }),
);
