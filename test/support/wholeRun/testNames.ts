import fs from 'node:fs';
import path from 'node:path';
import { repositoryRoot } from '../repository';

/** The tests of a folder by name, read from the source: what a level that can't run would have run. */
export function testNamesIn(folder: string): string[] {
  const absolute = path.join(repositoryRoot(), folder);
  const files = fs.readdirSync(absolute).filter((name) => name.endsWith('.test.ts'));
  return files.flatMap((file) => {
    const source = fs.readFileSync(path.join(absolute, file), 'utf8');
    const calls = source.matchAll(/^\s*(?:it|test)(?:\.\w+)*\(\s*(['"`])(.+?)\1\s*,/gms);
    return [...calls].map(([, , name]) => `${folder}/${file}: ${name}`);
  });
}
