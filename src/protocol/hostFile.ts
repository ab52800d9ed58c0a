import path from 'node:path';
import * as v from 'valibot';
import { readPrivateJson, writePrivateJson } from './privateFile';

/** Which process a kernel host is, for good: only where all of it matches is it that one. */
export const hostIdentity = v.object({
  /** Unguessable; another one for each host. */
  id: v.string(),
  pid: v.number(),
  /** Absent where the system does not tell. */
  startTime: v.exactOptional(v.string()),
  boot: v.string(),
  namespace: v.string(),
});

export type HostIdentity = v.InferOutput<typeof hostIdentity>;

/** What a kernel host tells, in its private folder, whoever may look for it. */
const hostFile = v.object({
  version: v.number(),
  host: hostIdentity,
  /** Whose window it belongs to, as its first client named it: compared, never interpreted. */
  workspace: v.string(),
  address: v.string(),
  client: v.variant('state', [
    v.object({ state: v.literal('attached') }),
    v.object({ state: v.literal('leaving') }),
    /** For the one who starts it. */
    v.object({ state: v.literal('waiting') }),
    /** The client is gone: without another one until then (ms since the epoch) it leaves. */
    v.object({ state: v.literal('gone'), until: v.number() }),
  ]),
  /** Kernels that it holds. */
  kernels: v.number(),
});

export type HostFile = v.InferOutput<typeof hostFile>;

const pathIn = (folder: string): string => path.join(folder, 'host.json');

export function writeHostFile(folder: string, content: HostFile): Promise<void> {
  return writePrivateJson(pathIn(folder), content);
}

export function readHostFile(folder: string): Promise<HostFile> {
  return readPrivateJson(pathIn(folder), hostFile, 'announcement of a kernel host');
}

/** What a client lays into the folder for the host that it starts. */
const launchFile = v.object({
  workspace: v.string(),
  graceMs: v.pipe(v.number(), v.minValue(0)),
});

type LaunchFile = v.InferOutput<typeof launchFile>;

const launchPathIn = (folder: string): string => path.join(folder, 'launch.json');

export function writeLaunchFile(folder: string, content: LaunchFile): Promise<void> {
  return writePrivateJson(launchPathIn(folder), content);
}

export function readLaunchFile(folder: string): Promise<LaunchFile> {
  return readPrivateJson(launchPathIn(folder), launchFile, 'launch file');
}
