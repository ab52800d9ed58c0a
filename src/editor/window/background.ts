import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import type { Admission } from '../../runner/admission';
import { BackgroundRunsHere } from '../background/backgroundRunsHere';
import { tellOfEnd } from '../background/tellOfEnd';
import type { Door } from '../door';
import { prompts } from '../prompts';
import { startKernel } from '../python/startPython';
import type { Essentials } from './essentials';
import type { Kernels } from './kernels';
import type { KeptTranscripts } from './records';

interface BackgroundOptions
  extends
    Pick<Kernels, 'python' | 'kernelHost'>,
    Pick<KeptTranscripts, 'records'>,
    Pick<Essentials, 'clock' | 'log' | 'ownerId' | 'onFailure' | 'transcript' | 'configuration'> {
  readonly admission: Admission;
  readonly door: Door;
  /** The extension's folder for this workspace. */
  readonly storage: vscode.Uri;
}

/** What runs background runs: in kernels of their own, beside the pool's. `onChange` is told as they come and go. */
export async function createBackgroundRuns(
  options: BackgroundOptions,
  onChange: () => void,
): Promise<BackgroundRunsHere> {
  const { clock, log, ownerId, onFailure, transcript, admission, door, kernelHost } = options;
  const [backend, settings] = await Promise.all([options.python.get(), options.configuration()]);
  return new BackgroundRunsHere({
    ...{ ownerId, clock, log, transcript, door, newId: randomUUID, onChange, onFailure },
    folder: vscode.Uri.joinPath(options.storage, 'background').fsPath,
    startTimeoutMs: () => settings.forPool().startTimeoutMs,
    maxOutputBytes: () => settings.forPool().maxOutputBytes,
    enterLease: () => admission.background(),
    keep: (key, value) => kernelHost.made?.keep(key, value),
    clearKept: async (sessionKey) => (await options.records()).clear(sessionKey),
    onEnd: (run) => tellOfEnd(run, ownerId, settings.get('background.notify'), prompts),
    startKernel: async (request) => startKernel(request, backend, await kernelHost.get()),
  });
}
