import { promises as fs } from 'node:fs';
import { expect, it, onTestFinished, vi } from 'vitest';
import { ContentPack } from '../../../src/editor/capture/contentPack';
import { temporaryFolder } from '../../support/temporaryFolder';

/** What every open file has its `writev` from. */
async function fileMethods(): Promise<fs.FileHandle> {
  const file = await fs.open(process.execPath);
  await file.close();
  return Object.getPrototypeOf(file) as fs.FileHandle;
}

it('a pack that a write has failed for gives what it had before, and takes nothing any more', async () => {
  const pack = await ContentPack.open(temporaryFolder(), 1_000);
  onTestFinished(() => pack.close());
  const before = await pack.add(Buffer.from('before'));
  if (!before) throw new Error('There is room.');
  expect((await pack.read(before))?.toString()).toBe('before');
  const full = Object.assign(new Error('no space left'), { code: 'ENOSPC' });
  const writev = vi.spyOn(await fileMethods(), 'writev').mockRejectedValueOnce(full);
  onTestFinished(() => writev.mockRestore());
  const lost = await pack.add(Buffer.from('lost'));
  expect(lost && (await pack.read(lost))).toBeUndefined();
  expect(pack.failure).toBe(full);
  expect(await pack.add(Buffer.from('after'))).toBeUndefined();
  expect((await pack.read(before))?.toString()).toBe('before');
});
