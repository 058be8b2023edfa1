/** A migration whose process is killed again and again: each row comes out right. `ROWS` and `KILLS` make it larger. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { sqlite } from '../../../../sqlite/src/index.js';
import { folder } from '../../../../sqlite/test/support/sql-storages.js';
import { open, table } from '../../../src/index.js';
import { newIssue, newIssues, oldIssue, oldIssues, oldRows } from '../../support/migrating.mjs';
import { expectSame } from '../../support/models/store-model.js';
import { type BeginStep, forSeeds } from '../../support/property.js';
import type { Random } from '../../support/random.js';

const ROWS = Number(process.env.ROWS ?? 20_000);
const KILLS = Number(process.env.KILLS ?? 2);
const CHILD = fileURLToPath(new URL('migrate-child.mjs', import.meta.url));
/** Up to this number of rows, the rows are read in full after each kill. */
const FEW_ROWS = 50_000;

/** Starts the process; `kills` looks at each line of its output, and says when to kill it. */
function start(location: string, kills: (line: string) => number | undefined) {
  const child = spawn(process.execPath, [CHILD, location], { stdio: ['ignore', 'pipe', 'pipe'] });
  const lines: string[] = [];
  let [rest, errors] = ['', ''];
  child.stderr.setEncoding('utf8').on('data', (text) => {
    errors += text;
  });
  child.stdout.setEncoding('utf8').on('data', (text) => {
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    for (const line of parts) {
      lines.push(line);
      const afterMs = kills(line);
      if (afterMs !== undefined) setTimeout(() => child.kill('SIGKILL'), afterMs);
    }
  });
  return new Promise<{ lines: string[]; how: string }>((resolve) => {
    child.on('close', (code, signal) => resolve({ lines, how: `${signal ?? code}${errors}` }));
  });
}

/** Counts the old rows by the index and, of few rows, by all rows. Each row is either old or migrated. */
async function oldRowsOf(location: string): Promise<number> {
  const old = { path: '/~0v', prefix: 'issues/', nulls: true, below: 2 } as const;
  const db = await open('app', { storage: sqlite({ location }), indexes: { old } });
  try {
    expect(await db.count()).toBe(ROWS);
    const count = await db.count({ index: 'old' });
    if (ROWS > FEW_ROWS) return count;
    let found = 0;
    const [rows, wanted]: [unknown[], unknown[]] = [[], []];
    for await (const [, row] of db.scan<Record<string, unknown>>()) {
      const isOld = !('~v' in row);
      if (isOld) found += 1;
      const at = rows.push(row) - 1;
      wanted.push(isOld ? oldIssue(at) : { ...newIssue(at), '~v': 2 });
    }
    expectSame(rows, wanted);
    expect(count).toBe(found);
    return count;
  } finally {
    await db.close();
  }
}

describe('a migration that is killed', () => {
  it('has each row right in the end', () => forSeeds(3, migrate));

  async function migrate(next: Random, _: number, begin: BeginStep): Promise<void> {
    const location = folder();
    const startMs = performance.now();
    {
      const storage = sqlite({ location });
      const db = await open('app', { storage, tables: { issues: oldIssues(table) } });
      await db.issues.putMany(oldRows(ROWS));
      await db.issues.where({ status: 'open' }).count();
      await db.close();
    }
    const loadedMs = performance.now();
    let left = ROWS;
    let [advances, early] = [0, 0];
    for (let kill = 0; kill < KILLS; kill++) {
      // At any time of its start, or of a commit.
      const isEarly = next.below(3) === 0;
      const afterMs = next.below(isEarly ? 400 : 60);
      const before = left;
      let isDue = true;
      const { lines, how } = await start(location, (line) => {
        const told = /^left (\d+)$/.exec(line);
        if (line.startsWith('rests')) throw new Error(line);
        const isAt = isEarly ? line === 'open' : told !== null && Number(told[1]) < before;
        if (!isDue || !isAt) return undefined;
        isDue = false;
        return afterMs;
      });
      begin({ kill, how });
      if (lines.at(-1)?.startsWith('done')) break;
      expect(how).toMatch(/^SIGKILL/);
      left = await oldRowsOf(location);
      expect(left).toBeLessThanOrEqual(before);
      if (left < before) advances += 1;
      if (isEarly) early += 1;
    }
    const killedMs = performance.now();
    const { lines, how } = await start(location, () => undefined);
    expect(how).toBe('0');
    const [, remaining, refused, longestMs] = lines.at(-1)?.split(' ') ?? [];
    expect({ remaining, refused }).toEqual({ remaining: '0', refused: '0' });
    const doneMs = performance.now();

    const db = await open('app', {
      storage: sqlite({ location }),
      tables: { issues: newIssues(table) },
    });
    let at = 0;
    let isOpen = 0;
    const wrong: string[] = [];
    for await (const [key, row] of db.scan()) {
      const wanted = newIssue(at++);
      if (wanted.state === 'open') isOpen += 1;
      const isRight =
        key === `issues/${wanted.id}` &&
        JSON.stringify(row) === JSON.stringify({ ...wanted, '~v': 2 });
      if (!isRight && wrong.length < 9) wrong.push(`${key}: ${JSON.stringify(row)}`);
    }
    expect(wrong).toEqual([]);
    expect(at).toBe(ROWS);
    expect(await db.issues.where({ state: 'open' }).count()).toBe(isOpen);
    expect((await db.health.verify({ checkIndexes: true })).faults).toEqual([]);
    await db.close();
    const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;
    console.log(
      `${ROWS} rows, ${KILLS} kills (${early} at the start; after ${advances} rows had moved on): loaded in ${seconds(loadedMs - startMs)}, killed for ${seconds(killedMs - loadedMs)}, ended in ${seconds(doneMs - killedMs)}; longest slice of the last process ${longestMs} ms`,
    );
  }
});
