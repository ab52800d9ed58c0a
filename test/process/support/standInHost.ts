/**
 * Stands in for an extension host in a process of its own: starts kernels through the hosting, runs code in them, says
 * who is who in one line of JSON, and stays until it is ended or its stdin closes (then it says goodbye).
 */
import { silentLog } from '../../../src/base/log';
import { createKernelHosting } from '../../../src/hosting';

interface Assignment {
  readonly hostScript: string;
  readonly runnersDir: string;
  readonly runtimeDir: string;
  readonly interpreter: string;
  readonly graceMs: number;
  /** One kernel for each; it has printed its first output when it is reported. */
  readonly codes: readonly string[];
}

async function main(): Promise<void> {
  const assignment = JSON.parse(process.argv[2] ?? '') as Assignment;
  const hosting = createKernelHosting({
    ...assignment,
    workspace: 'test',
    log: silentLog,
  });
  process.stdin.on('end', () => void hosting.leave().then(() => process.exit(0))).resume();
  hosting.keep('note', { from: 'the first window' });
  const signal = new AbortController().signal;
  const kernels = await Promise.all(
    assignment.codes.map(async (code, index) => {
      const kernel = await hosting.startKernel({
        language: 'python',
        interpreter: assignment.interpreter,
        cwd: process.cwd(),
        sessionId: `python:${index}`,
        env: process.env,
        place: { id: `session-${index}`, incarnation: 1 },
        history: `history-${index}`,
        signal,
      });
      const printed = await new Promise<string>((resolve) => {
        void kernel.execute(code, {
          executionId: 'run',
          signal,
          onOutput: (output) => {
            if (typeof output === 'string' || output.type !== 'stream') return;
            resolve(output.text);
          },
        });
      });
      return { pid: kernel.pid, printed: printed.trim() };
    }),
  );
  process.stdout.write(`${JSON.stringify({ hostPid: hosting.hostPid, kernels })}\n`);
}

void main();
