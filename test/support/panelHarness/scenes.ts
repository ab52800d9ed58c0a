import type { KernelOutput } from '../../../src/kernel/output';
import type { ExecutionResult } from '../../../src/pool/types';
import type { Transcript, TranscriptRun } from '../../../src/editor/panel/transcript';
import { resultOf } from '../executionResult';

export const SESSION = 'python:demo';

export const live = (state = 'idle') => ({
  key: SESSION,
  label: 'demo',
  description: 'Python 3.11.7 (~/work/demo/.venv/bin/python)',
  state,
});

export const stdout = (text: string): KernelOutput => ({ type: 'stream', name: 'stdout', text });
export const stderr = (text: string): KernelOutput => ({ type: 'stream', name: 'stderr', text });

let nextId = 0;

/** A run that has begun and started; `end` finishes it. */
export function startRun(
  transcript: Transcript,
  code: string,
  more: Partial<TranscriptRun> & { startedAgoMs?: number } = {},
): {
  id: string;
  put(...outputs: KernelOutput[]): void;
  end(result?: Partial<ExecutionResult>): void;
} {
  const { startedAgoMs = 0, ...run } = more;
  const id = `run-${nextId++}`;
  const at = Date.now() - startedAgoMs;
  transcript.begin({
    executionId: id,
    sessionKey: SESSION,
    sessionLabel: 'demo',
    code,
    language: 'python',
    owner: null,
    queuedAt: at,
    ...run,
  });
  transcript.started(id, at);
  return {
    id,
    put: (...outputs) => outputs.forEach((output) => transcript.output(id, output)),
    end: (result) => transcript.finished(id, { at: Date.now(), result: resultOf(result) }),
  };
}

const frame = `<table border="1" class="dataframe"><thead><tr style="text-align: right;"><th></th><th>station</th><th>mean °C</th><th>max °C</th><th>rain mm</th></tr></thead><tbody>
<tr><th>0</th><td>Uccle</td><td>10.8</td><td>35.4</td><td>852.4</td></tr><tr><th>1</th><td>Bergen</td><td>8.6</td><td>33.4</td><td>2495.1</td></tr><tr><th>2</th><td>Faro</td><td>18.2</td><td>41.9</td><td>509.0</td></tr></tbody></table>`;

const plot = `<svg xmlns="http://www.w3.org/2000/svg" width="420" height="150" viewBox="0 0 420 150"><rect width="420" height="150" fill="#fff"/><g stroke="#ddd"><path d="M40 20h360M40 55h360M40 90h360M40 125h360"/></g><polyline fill="none" stroke="#3572b0" stroke-width="2" points="40,110 76,98 112,104 148,70 184,58 220,66 256,40 292,36 328,48 364,30 400,26"/><polyline fill="none" stroke="#d8572a" stroke-width="2" points="40,120 76,116 112,112 148,100 184,96 220,88 256,84 292,70 328,72 364,64 400,60"/></svg>`;

/** A little of everything, as after some minutes of work. */
export function scene(transcript: Transcript): void {
  transcript.sessionChanged([live('busy')]);
  const file = '/home/ada/demo/weather.py';
  const load = startRun(
    transcript,
    'import pandas as pd\n\nstations = pd.read_csv("stations.csv")  # 2023\nstations.head(3)',
    { source: { file, line: 12 }, startedAgoMs: 412 },
  );
  load.put({
    type: 'result',
    data: { 'text/html': frame, 'text/plain': '  station  mean' },
  });
  load.end();

  const colours = startRun(transcript, 'report(stations, year=2023)', {
    source: { file, line: 18 },
    startedAgoMs: 1_280,
    owner: 'Copilot',
  });
  colours.put(
    stdout('\x1b[1mStations\x1b[0m  3 read, \x1b[32m2 complete\x1b[0m, \x1b[33m1 partial\x1b[0m\n'),
    stdout(
      '\x1b[36minfo\x1b[0m   wrote \x1b]8;;https://example.org/report\x1b\\report.html\x1b]8;;\x1b\\\n',
    ),
    stderr('UserWarning: 14 readings of Faro are missing\n'),
    stdout(
      '\x1b[7m done \x1b[0m \x1b[38;5;208m▇▇▇▇▇▇▇\x1b[38;2;120;120;255m▇▇▇\x1b[0m \x1b[2mcached\x1b[0m \x1b[9mold\x1b[0m \x1b[3;4mnew\x1b[0m\n',
    ),
  );
  colours.end();

  const plotted = startRun(transcript, 'stations.plot()', { startedAgoMs: 180 });
  plotted.put({
    type: 'display',
    data: { 'image/svg+xml': plot, 'text/plain': '<Figure 420x150>' },
  });
  plotted.end();

  const failed = startRun(transcript, 'share(0)', { source: { file, line: 31 }, startedAgoMs: 3 });
  failed.put({
    type: 'error',
    name: 'ZeroDivisionError',
    value: 'division by zero',
    traceback: `Traceback (most recent call last):\n  File "${file}", line 31, in <module>\n    share(0)\n  File "${file}", line 27, in share\n    return 100 / parts\n           ~~~~^~~~~~~\nZeroDivisionError: division by zero\n`,
  });
  failed.end({ exitCode: 1 });
  transcript.note(SESSION, 'Kernel restarted');
  startRun(transcript, 'time.sleep(60)', { startedAgoMs: 61_000 }).end({
    exitCode: undefined,
    cancelled: true,
  });
  const running = startRun(
    transcript,
    '@timed\ndef train(epochs: int = 40) -> Model:\n    for epoch in range(epochs):\n        step(epoch)\n    return Model(None)\n\ntrain()',
    { startedAgoMs: 23_400 },
  );
  running.put(
    stderr('epoch 12/40  30%|████████▍                   | 12/40 [00:21<00:50,  1.79s/it]'),
  );
  transcript.begin({
    executionId: 'queued',
    sessionKey: SESSION,
    sessionLabel: 'demo',
    code: 'evaluate()',
    language: 'python',
    owner: null,
    queuedAt: Date.now(),
  });
}
