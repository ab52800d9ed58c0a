import { expect, it } from 'vitest';
import { cellsOf, pickCell } from '../../../src/editor/selection/cells';

const lines = [
  'import os',
  '# %% Load the data',
  '',
  'x = 1',
  '',
  '#%%',
  '   ',
  '# %% [markdown] Notes',
  '# text',
  '  # %% Train',
  'for i in x:',
  '    pass',
];

it('cells lie between their comments; those without code, and notes, are none', () => {
  expect(cellsOf(lines)).toEqual([
    { marker: 1, last: 4, title: 'Load the data' },
    { marker: 9, last: 11, title: 'Train' },
  ]);
  expect(cellsOf(['x = "%%"', '# not %% one'])).toEqual([]);
});

it('the cell around a line is picked, with the line that its code has in the document', () => {
  expect(pickCell(lines, 10)).toEqual({
    title: 'Train',
    picked: { code: 'for i in x:\n    pass', line: 11, advanceTo: undefined },
  });
  expect(pickCell(lines, 1)?.picked).toMatchObject({ code: 'x = 1', line: 4 });
  for (const none of [0, 5, 8]) expect(pickCell(lines, none)).toBeUndefined();
});
