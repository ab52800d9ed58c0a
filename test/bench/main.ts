import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { measureCustody } from './custody';
import { measureCapture } from './capture';
import { measureDoor } from './door';
import { measureEditor } from './editor';
import { measureFlood } from './flood';
import { measurePool } from './poolCosts';
import { measureRoundTrips } from './roundTrips';
import type { Report } from './report';

const PARTS = {
  pool: measurePool,
  door: measureDoor,
  roundTrips: measureRoundTrips,
  flood: measureFlood,
  custody: measureCustody,
  capture: measureCapture,
  editor: measureEditor,
};

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { json: { type: 'string' }, only: { type: 'string' } } });
  const { json, only } = values;
  if (only !== undefined && !(only in PARTS)) {
    throw new Error(`No part is named ${only}. There are: ${Object.keys(PARTS).join(', ')}.`);
  }
  const report: Report = new Map();
  for (const [name, measure] of Object.entries(PARTS)) {
    if (only === undefined || only === name) await measure(report);
  }
  if (json !== undefined) {
    writeFileSync(json, JSON.stringify(Object.fromEntries(report), null, 2) + '\n');
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
