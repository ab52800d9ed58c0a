import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { measureDoor } from './door';
import { measureEditor } from './editor';
import { measureFlood } from './flood';
import { measurePool } from './poolCosts';
import { measureRoundTrips } from './roundTrips';
import type { Report } from './report';

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { json: { type: 'string' } } });
  const report: Report = new Map();
  await measurePool(report);
  await measureDoor(report);
  await measureRoundTrips(report);
  await measureFlood(report);
  measureEditor(report);
  if (values.json !== undefined) {
    writeFileSync(values.json, JSON.stringify(Object.fromEntries(report), null, 2) + '\n');
  }
}

// What is measured never keeps a process alive by itself.
setInterval(() => undefined, 60_000);
main().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
