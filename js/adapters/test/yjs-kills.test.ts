/** Flushed changes survive `kill -9`, also of a process that keeps merging rows. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import * as Y from 'yjs';
import { open } from '../../hedgerow/src/index.js';
import { forSeeds } from '../../hedgerow/test/support/property.js';
import type { Random } from '../../hedgerow/test/support/random.js';
import { sqlite } from '../../sqlite/src/index.js';
import { folder } from '../../sqlite/test/support/sql-storages.js';
import { HedgerowProvider } from '../src/yjs.js';
import { rowsOf } from './yjs-tabs.js';

const CHILD = fileURLToPath(new URL('yjs-child.mjs', import.meta.url));
const KILLS = 2;

/** Lets a process type until it has said a few things; returns the last number that it acknowledged. */
async function killed(location: string, run: number, acks: number): Promise<number> {
  const child = spawn(process.execPath, [CHILD, location, String(run)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let last = -1;
  let said = '';
  child.stdout.on('data', (text) => {
    said += text;
    const lines = said.split('\n');
    said = lines.pop() ?? '';
    for (const line of lines) last = Number(line.slice('ack '.length));
    if (last >= 3 * acks) child.kill('SIGKILL');
  });
  await new Promise((resolve) => child.once('close', resolve));
  expect(child.signalCode).toBe('SIGKILL');
  return last;
}

it('a document has all flushed changes after kills', () => forSeeds(2, kill));

async function kill(from: Random): Promise<void> {
  const location = folder();
  const wanted: string[] = [];
  for (let run = 0; run < KILLS; run++) {
    const last = await killed(location, run, 20 + from.below(60));
    for (let n = 0; n <= last; n++) wanted.push(`${run}/${n}`);
    const db = await open('yjs', { storage: sqlite({ location }) });
    expect((await db.health.verify()).ok).toBe(true);
    const provider = new HedgerowProvider(db, 'doc', new Y.Doc());
    await provider.whenSynced;
    const list = provider.doc.getArray<string>('list').toArray();
    const there = new Set(list);
    expect(there.size).toBe(list.length);
    expect(wanted.filter((one) => !there.has(one))).toEqual([]);
    // Rows were merged in the meantime.
    expect((await rowsOf(db)).size).toBeLessThan(40);
    await provider.destroy();
    await db.close();
  }
  expect(wanted.length).toBeGreaterThan(KILLS * 60);
}
