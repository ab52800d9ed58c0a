import { describe, expect, it } from 'vitest';
import { asRead, OutputText } from '../../../src/editor/agent/outputText';

function outputOf(text: string, longest?: number): OutputText {
  const output = new OutputText(longest);
  output.add({ type: 'stream', name: 'stdout', text });
  return output;
}

describe('the output of a run as text', () => {
  it('has everything in its place: streams, values, errors, and word of what text cannot show', () => {
    const output = outputOf('working');
    output.add({ type: 'result', data: { 'text/plain': '42', 'text/html': '<b>42</b>' } });
    output.add({ type: 'display', data: { 'image/png': 'AAAA', 'text/plain': '<Figure>' } });
    output.add({ type: 'gap', lines: 7, bytes: 70 });
    output.add({ type: 'error', name: 'E', value: 'v', traceback: 'Traceback…' });
    expect(output.page(0, 1_000).text).toBe(
      'working\n42\n<Figure>\n[image/png: shown in the Holdfast panel]\n[7 lines were left out here]\nTraceback…\n',
    );
  });

  it('is read page by page, each ending with a line where that can be', () => {
    const output = outputOf('one\ntwo\nthree\n');
    expect(output.page(0, 10)).toEqual({ text: 'one\ntwo\n', from: 0, to: 8 });
    expect(output.page(8, 10)).toEqual({ text: 'three\n', from: 8, to: 14 });
    expect(output.page(14, 10)).toEqual({ text: '', from: 14, to: 14 });
    expect(output.page(-6, 10).text).toBe('three\n');
    expect(output.page(99, 10)).toEqual({ text: '', from: 14, to: 14 });
    expect(output.tail(0, 9)).toEqual({ text: 'three\n', from: 8, to: 14 });
  });

  it('keeps the end of what is too long, and its positions', () => {
    const output = new OutputText(100);
    for (let line = 0; line < 1_000; line++)
      output.add({ type: 'stream', name: 'stdout', text: `${line}\n` });
    expect(output.length).toBe(3_890);
    const page = output.page(0, 1_000);
    expect(page.to).toBe(3_890);
    expect(page.from).toBeGreaterThan(3_600);
    expect(page.text.endsWith('998\n999\n')).toBe(true);
  });

  it('does not come apart within a character', () => {
    expect(outputOf('ab😀cd').page(0, 3)).toEqual({ text: 'ab', from: 0, to: 2 });
  });

  it('begins anew where the code clears it', () => {
    const output = outputOf('old\n');
    output.add({ type: 'clear', wait: false });
    output.add({ type: 'stream', name: 'stdout', text: 'new' });
    expect(output.page(0, 100)).toEqual({ text: 'new', from: 4, to: 7 });
  });

  it('is read as a terminal would leave it', () => {
    expect(asRead('\u001b[31mred\u001b[0m\r\n 10%\r 99%\r100%\n\u001b]8;;x\u0007link')).toBe(
      'red\n100%\nlink',
    );
  });
});
