import fs from 'node:fs';
import path from 'node:path';

/**
 * Installs `folder` as an extension by a link. The server reads the folder `extensions` only as long as there is no
 * extensions.json in it, which it writes at its first start.
 */
export function linkExtension(folder: string, extensions: string): void {
  const manifest = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8')) as {
    publisher: string;
    name: string;
    version: string;
  };
  const name = `${manifest.publisher}.${manifest.name}-${manifest.version}`;
  fs.symlinkSync(folder, path.join(extensions, name), 'junction');
}
