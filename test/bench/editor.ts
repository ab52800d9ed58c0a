import { createTranscript } from '../../src/editor/panel/transcript';
import { pickCode } from '../../src/editor/selection/pickCode';
import { add, median, type Report } from './report';

const LINES = 1_000_000;
const BATCH_UNITS = 64 * 1024;
const SLICE_LIMIT_MS = 50;
const PICKS = 25;

/** What the extension host does for the panel and for "Run Selection or Line", beside the slice that nobody feels. */
export function measureEditor(report: Report): void {
  measureTranscript(report);
  measureSelection(report);
}

function measureTranscript(report: Report): void {
  const lines = Array.from({ length: LINES }, (_, i) => `${i}\n`).join('');
  const transcript = createTranscript();
  const run = { executionId: 'run', sessionKey: 'flood', sessionLabel: 'flood', code: 'flood()' };
  transcript.begin({ ...run, language: 'python', owner: null, queuedAt: Date.now() });
  const reader = transcript.reader('flood');
  let longestMs = 0;
  for (let at = 0; at < lines.length; at += BATCH_UNITS) {
    const text = lines.slice(at, at + BATCH_UNITS);
    const began = performance.now();
    transcript.output('run', { type: 'stream', name: 'stdout', text });
    reader.read();
    longestMs = Math.max(longestMs, performance.now() - began);
  }
  transcript.dispose();
  add(report, 'panel: longest batch of a flood', longestMs, 'ms', 'limit', SLICE_LIMIT_MS);
}

function measureSelection(report: Report): void {
  const block = [
    '@deco(1,',
    '  2)',
    'def f(a):',
    '    """doc',
    '    string"""',
    '    g({',
    '    })',
  ];
  const lines = Array.from({ length: 1_500 }, () => block).flat();
  const cursor = { line: lines.length - 3, character: 3 };
  const tookMs = Array.from({ length: PICKS }, () => {
    const began = performance.now();
    pickCode(lines, [{ start: cursor, end: cursor }]);
    return performance.now() - began;
  });
  add(report, 'selection: 10,500 lines', median(tookMs), 'ms', 'limit', SLICE_LIMIT_MS);
}
