import type { Random } from './random';
import { traceOf } from './traces';

/** Code for one run. It prints `<run> 0`, `<run> 1` and so on, and writes down what it does (`traces.ts`). */
export interface Code {
  readonly name: string;
  readonly weight: number;
  /** How it ends when nobody disturbs it; undefined: it does not. */
  readonly ends?: 'ok' | 'error' | 'cancelled';
  readonly lines: number;
  /** By a thread, which may go on when the run is over. */
  readonly isPrintedAside: boolean;
  readonly text: string;
}

const A_THREAD = 'lines of a thread';

const head = (run: string): string => `# ${run}
import os, subprocess, threading, time
trace = open('${traceOf(run)}', 'ab', 0)
trace.write(b'began %d\\n' % os.getpid())
def say(lines, pause, trace=trace):
    for i in lines:
        print('${run}', i)
        trace.write(b'%d %f\\n' % (i, time.time()))
        if pause: time.sleep(pause)
`;

/** What a run may do, with figures drawn from `random`. */
export function codesFor(run: string, random: Random): readonly Code[] {
  const code = (
    name: string,
    weight: number,
    lines: number,
    body: string,
    ends?: Code['ends'],
  ): Code => ({
    name,
    weight,
    lines,
    isPrintedAside: name === A_THREAD,
    text: head(run) + body,
    ...(ends && { ends }),
  });
  const many = random.between(50, 400);
  const some = random.between(5, 60);
  const pause = random.between(5, 60) / 1_000;
  return [
    code('slow lines', 8, some, `say(range(${some}), ${pause})`, 'ok'),
    code('a burst', 3, many, `say(range(${many}), 0)`, 'ok'),
    code(
      A_THREAD,
      2,
      some,
      `t = threading.Thread(target=say, args=(range(${some}), ${pause}))\nt.start()\nt.join()`,
      'ok',
    ),
    code('an error', 1, some, `say(range(${some}), 0)\n1 / 0`, 'error'),
    code(
      'children',
      3,
      4,
      `say(range(2), 0)
for own in (False, True): subprocess.Popen(['sleep', '600'], start_new_session=own)
subprocess.Popen(['sh', '-c', 'sleep 600 & wait'])
say(range(2, 4), 0)`,
      'ok',
    ),
    code('input', 2, 4, `say(range(2), 0)\ninput()\nsay(range(2, 4), 0)`, 'ok'),
    code(
      'a loop',
      2,
      some,
      `say(range(${some}), 0)\ndef spin():\n    while True: id(0)\nspin()`,
      undefined,
    ),
    code(
      'a stubborn loop',
      1,
      some,
      `import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
say(range(${some}), 0)
def spin():
    while True: time.sleep(0.01)
while True:
    try: spin()
    except KeyboardInterrupt: pass`,
      undefined,
    ),
    code(
      'its own end',
      1,
      3,
      `say(range(3), 0.02)\ntime.sleep(0.2)\nos.kill(os.getpid(), 9)`,
      'cancelled',
    ),
  ];
}
