import * as v from 'valibot';
import { NotificationType, RequestType } from 'vscode-jsonrpc/node';
import type { Schema } from './parse';
import {
  codeSource,
  executionReply,
  historyEntry,
  interruptVerdict,
  kernelExit,
  kernelOutput,
  shutdownOutcome,
  stopProgress,
  withheldNames,
} from './vocabulary';

/** Raised when a message changes its meaning. The two sides are of one version or do not talk. */
export const PROTOCOL_VERSION = 3;

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

/** The client's own name for what a kernel belongs to, so that another client can find it again. */
const place = v.object({ id: v.string(), incarnation: v.number() });

/** What is told of a kernel once it has started. */
const facts = v.object({
  pid: v.number(),
  /** With the pid it names the process for good; absent where the system does not tell. */
  startTime: v.exactOptional(v.string()),
  /** The mark in its environment, which all that come of it carry too. */
  nonce: v.string(),
  description: v.string(),
  /** As its client gave it with the start. */
  withheld: v.exactOptional(withheldNames),
});

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
    /** Names that its environment was restricted by, for the client that comes after this one. */
    withheld: v.exactOptional(withheldNames),
    /** Absent: nobody will come back for it. */
    place: v.exactOptional(place),
    /** Which history its runs and their output go to. */
    history: v.string(),
  }),
  facts,
);

/** What there is for a client that comes back. Kernels stay silent until they are opened. */
export const survey = request(
  'host/survey',
  nothing,
  v.object({
    kept: v.record(v.string(), v.unknown()),
    kernels: v.array(
      v.object({
        kernel,
        place: v.exactOptional(place),
        history: v.string(),
        /** Its start is over: opening it does not have to wait. */
        started: v.boolean(),
      }),
    ),
    histories: v.array(v.string()),
  }),
);

/**
 * Takes a kernel up: its history after a number, and from then on what it does, without a gap or a double. Waits for the
 * end of a start, and rejects as that does.
 */
export const openKernel = request(
  'kernel/open',
  v.object({ kernel, after: v.number() }),
  v.object({
    facts,
    entries: v.array(historyEntry),
    /** As `silence` tells it. */
    silentSince: v.nullable(v.number()),
    question: v.nullable(
      v.object({
        execution: v.string(),
        question: v.number(),
        prompt: v.string(),
        password: v.boolean(),
      }),
    ),
  }),
);

export const readHistory = request(
  'history/read',
  v.object({ history: v.string(), after: v.number() }),
  v.object({ entries: v.array(historyEntry) }),
);

/** Keeps a value for the client that comes after this one; unread, the latest of each key. Absent: no longer. */
export const keep = notification(
  'host/keep',
  v.object({ key: v.string(), value: v.optional(v.unknown()) }),
);

export const configure = notification(
  'host/configure',
  v.object({ graceMs: v.pipe(v.number(), v.minValue(0)) }),
);

const ms = v.pipe(v.number(), v.minValue(0));

/** What the host goes by from now on. */
export const setLimits = notification(
  'host/limits',
  v.object({
    stop: v.object({
      askIdle: ms,
      askBusy: ms,
      interrupt: ms,
      terminate: ms,
      kill: ms,
      sweep: ms,
    }),
    readyWithinMs: ms,
  }),
);

/** Asks the other side for a sign of life. No answer means that it does not respond, and no more than that. */
export const pingHost = request('host/ping', nothing, nothing);
export const pingClient = request('client/ping', nothing, nothing);

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

/** The end of an execution that an earlier client had asked for. */
export const awaitExecution = request(
  'kernel/await',
  v.object({ kernel, execution: v.string() }),
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

/** The end of what the process, or one that it started, wrote on descriptor 2 itself; for a while also after its exit. */
export const readStderr = request(
  'kernel/stderr',
  v.object({ kernel }),
  v.object({ text: v.string() }),
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

/**
 * The client leaves. The host waits its grace period for another one; with none it stops everything and ends, which
 * closes the connection.
 */
export const goodbye = request('host/goodbye', nothing, v.object({ waits: v.boolean() }));

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

/** Since when the kernel has not answered the host, in ms since the epoch; null: it answers again. */
export const silence = notification(
  'kernel/silence',
  v.object({ kernel, since: v.nullable(v.number()) }),
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
