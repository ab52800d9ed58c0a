import { afterEach, expect, test, vi } from 'vitest';
import { parsePsTable } from '../../../src/platform/darwin';
import { signalProcessGroup } from '../../../src/platform/posix';
import { familyIn, parseCimTable } from '../../../src/platform/windows';

afterEach(() => void vi.restoreAllMocks());

test('ps of macOS: pids, groups, times, zombies, and commands with line ends in them', () => {
  const text = `    1     0     1 Ss    18432 Sun Nov 29 08:00:00 2026     /sbin/launchd
  712     1   712 S+     9216 Mon Nov  2 19:12:31 2026     /usr/local/bin/python3 -u runner.py HOLDFAST_KERNEL_NONCE=abc A=b
second line of a variable
  713   712   712 Z         0 Mon Nov 30 19:12:32 2026     (sleep)
`;
  expect(parsePsTable(text)).toEqual([
    {
      ...{ pid: 1, parent: 0, group: 1, isZombie: false, residentBytes: 18_432 * 1024 },
      ...{ startTime: 'Sun Nov 29 08:00:00 2026', command: '/sbin/launchd' },
    },
    {
      ...{ pid: 712, parent: 1, group: 712, isZombie: false, residentBytes: 9_216 * 1024 },
      startTime: 'Mon Nov 2 19:12:31 2026',
      command: '/usr/local/bin/python3 -u runner.py HOLDFAST_KERNEL_NONCE=abc A=b',
    },
    {
      ...{ pid: 713, parent: 712, group: 712, isZombie: true, residentBytes: 0 },
      ...{ startTime: 'Mon Nov 30 19:12:32 2026', command: '(sleep)' },
    },
  ]);
});

const cim = parseCimTable(
  [
    '0 0 0 8192 System Idle Process',
    '4 0 0 151552 System',
    '500 4 639161900000000000 1000 explorer.exe',
    '700 500 639161923510000000 52428800 python.exe',
    '701 700 639161923520000000 1000 conhost.exe',
    '702 701 639161923520000000 2000 worker one.exe',
    // It began before the process that has its parent's id now.
    '703 700 639161900000000001 1000 stranger.exe',
    '704 703 639161923530000000 1000 child of the stranger.exe',
    '',
  ].join('\r\n'),
);

test('the table of Windows: ids, starts, memory, and names with spaces', () => {
  expect(cim).toHaveLength(8);
  expect(cim.at(5)).toEqual({
    ...{ pid: 702, parent: 701, startTime: '639161923520000000' },
    ...{ residentBytes: 2000, name: 'worker one.exe' },
  });
});

test('Windows: who began before its parent is no child of that, nor are its own', () => {
  const pids = familyIn(cim, { pid: 700, nonce: 'n' }).map(({ pid }) => pid);
  expect(pids).toEqual([700, 701, 702]);
  expect(familyIn(cim, { nonce: 'n' })).toEqual([]);
});

test('Windows: who has the pid of a leader that is gone is a stranger, as are its children', () => {
  const pidsOf = (startTime: string): number[] =>
    familyIn(cim, { pid: 700, startTime, nonce: 'n' }).map(({ pid }) => pid);
  expect(pidsOf('639161923510000000')).toEqual([700, 701, 702]);
  // What began between the two is the leader's.
  expect(pidsOf('639161900000000000')).toEqual([703, 704]);
});

test('a signal to a group: sent, nobody there, or not permitted', async () => {
  const refuse = (code: string) => () => {
    throw Object.assign(new Error(code), { code });
  };
  const kill = vi.spyOn(process, 'kill').mockReturnValue(true);
  expect(await signalProcessGroup(4711, 'SIGINT')).toBe('sent');
  kill.mockImplementation(refuse('ESRCH'));
  expect(await signalProcessGroup(4711, 'SIGINT')).toBe('nobody');
  kill.mockImplementation(refuse('EPERM'));
  expect(await signalProcessGroup(4711, 'SIGINT')).toBe('forbidden');
});

test.each([0, 1, -4711, Number.NaN])('%s is no process group of a kernel', (pid) => {
  const kill = vi.spyOn(process, 'kill').mockReturnValue(true);
  expect(() => signalProcessGroup(pid, 'SIGKILL')).toThrow(RangeError);
  expect(kill).not.toHaveBeenCalled();
});
