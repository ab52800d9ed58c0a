import { expect, it } from 'vitest';
import { SessionBook } from '../../src/editor/sessions/sessionBook';
import { sessionKeyOf, type SessionTarget } from '../../src/editor/sessions/target';

const own: SessionTarget = {
  language: 'python',
  sessionId: 'python:default',
  cwd: '/w',
  interpreter: undefined,
  label: 'w',
};
const named: SessionTarget = { ...own, sessionId: 'python:try', interpreter: '/py', label: 'try' };

it("a document uses its folder's own session until a person chooses another, and again after", () => {
  const book = new SessionBook();
  expect(book.current('a.py', '/w')).toBeUndefined();
  book.resolved('/w', own);
  expect(book.current('a.py', '/w')).toEqual(own);
  book.choose({ document: 'a.py' }, named);
  expect(book.current('a.py', '/w')).toEqual(named);
  expect(book.current('b.py', '/w')).toEqual(own);
  book.forgetChoice('a.py', '/w');
  expect(book.current('a.py', '/w')).toEqual(own);
});

it('a choice for a folder holds for its documents that have none of their own', () => {
  const book = new SessionBook();
  book.choose({ folder: '/w' }, named);
  expect(book.chosen('b.py', '/w')).toEqual(named);
  expect(book.chosen('b.py', '/other')).toBeUndefined();
});

it('a change of interpreters leaves choices, and lets own sessions be resolved again', () => {
  const book = new SessionBook();
  book.resolved('/w', own);
  book.choose({ document: 'a.py' }, named);
  book.forgetResolved();
  expect(book.current('a.py', '/w')).toEqual(named);
  expect(book.current('b.py', '/w')).toBeUndefined();
});

it('knows what sessions are called, and calls others by their folder', () => {
  const book = new SessionBook();
  book.choose({ folder: '/w' }, named);
  expect(book.labelOf(named)).toBe('try');
  expect(book.withKey(sessionKeyOf(named))).toEqual(named);
  expect(
    book.labelOf({ sessionId: 'python:x', cwd: '/home/ada/data', interpreter: undefined }),
  ).toBe('data');
});
