import { expect, it } from 'vitest';
import { SessionBook } from '../../src/editor/sessions/sessionBook';
import { sessionKeyOf, targetOfKey, type SessionTarget } from '../../src/editor/sessions/target';

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

it('the target of a key is the session that it stands for; what is private or no session has none', () => {
  const target = { language: 'python' as const, sessionId: 'python:a', cwd: '/w', label: 'w' };
  const plain = { ...target, interpreter: undefined };
  const chosen = { ...target, interpreter: '/usr/bin/python3' };
  expect(targetOfKey(sessionKeyOf(plain), 'w')).toEqual(plain);
  expect(targetOfKey(sessionKeyOf(chosen), 'w')).toEqual(chosen);
  expect(targetOfKey(sessionKeyOf({ ...plain, privateTo: 'chat:1' }), 'w')).toBeUndefined();
  for (const key of ['nonsense', '7', '["a","b",3]', '["other:a","/w",""]'])
    expect(targetOfKey(key, 'w')).toBeUndefined();
});
