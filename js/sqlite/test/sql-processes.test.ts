/** Several processes with one store over SQLite; some of them are killed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { destroy, open } from '../../hedgerow/src/index.js';
import { type BeginStep, forSeeds } from '../../hedgerow/test/support/property.js';
import type { Random } from '../../hedgerow/test/support/random.js';
import { sqlite } from '../src/index.js';
import { folder } from './support/sql-storages.js';

/** Kills in a load and in commits, of both kinds of durability. */
const KILLS = 4;
const CHILD = fileURLToPath(new URL('sql-child.mjs', import.meta.url));

interface Child {
  readonly process: ChildProcess;
  readonly lines: string[];
  /** Resolves when the process has said so, and rejects when it ends before that. */
  said(text: string | RegExp): Promise<string>;
  readonly ended: Promise<string>;
}

function start(...args: string[]): Child {
  const child = spawn(process.execPath, [CHILD, ...args], { stdio: ['pipe', 'pipe', 'pipe'] });
  const lines: string[] = [];
  let errors = '';
  const looks = new Set<() => void>();
  child.stderr.setEncoding('utf8').on('data', (text) => {
    errors += text;
  });
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    lines.push(...parts);
    for (const look of looks) look();
  });
  const ended = new Promise<string>((resolve) => {
    child.on('close', (code, signal) => resolve(`${code ?? signal}${errors && `: ${errors}`}`));
  });
  const said = (text: string | RegExp) =>
    new Promise<string>((resolve, reject) => {
      const look = () => {
        const found = lines.find((line) =>
          text instanceof RegExp ? text.test(line) : line === text,
        );
        if (found === undefined) return;
        looks.delete(look);
        resolve(found);
      };
      looks.add(look);
      ended.then((how) => reject(new Error(`ended before it said ${text}: ${how}`)));
      look();
    });
  return { process: child, lines, said, ended };
}

describe('a process that is killed', () => {
  it('in loads and in commits has all acknowledged changes, each whole', () => forSeeds(5, kill));

  async function kill(next: Random, _: number, begin: BeginStep): Promise<void> {
    const places = ['load', 'commit'].map((task) => ({ task, location: folder(), made: 0 }));
    for (let round = 0; round < KILLS; round++) {
      const place = places[round % 2];
      if (place === undefined) throw new Error('no place');
      const { task, location, made } = place;
      begin({ round, task });
      const durability = round % 4 < 2 ? 'relaxed' : 'strict';
      const child = start(task, location, String(made), durability);
      await child.said('open');
      // In a load at any time of the first two, in commits after some of them.
      if (task === 'commit') await child.said(/^ack/);
      await new Promise((resolve) => setTimeout(resolve, next.below(task === 'load' ? 300 : 50)));
      child.process.kill('SIGKILL');
      expect(await child.ended).toMatch(/^SIGKILL/);
      const acks = child.lines.filter((line) => line.startsWith('ack '));
      const acked = made + acks.length;

      const db = await open('shared', { storage: sqlite({ location }) });
      expect((await db.health.verify()).ok).toBe(true);
      const size = task === 'load' ? 15_000 : 3;
      const count = await db.count({});
      expect(count % size).toBe(0);
      place.made = count / size;
      expect(place.made).toBeGreaterThanOrEqual(acked);
      // The change in progress may exist, whole; later ones do not.
      expect(place.made).toBeLessThanOrEqual(acked + 1);
      for (let at = made; at < place.made; at++) {
        expect(await db.count({ prefix: `${at}/` })).toBe(size);
      }
      await db.close();
    }
  }
});

describe('several processes with one store', () => {
  it('lose no change, while one of them collects', async () => {
    const location = folder();
    const storage = sqlite({ location });
    const db = await open('shared', { storage });
    const children = [start('count', location, '40'), start('count', location, '40')];
    const done = Promise.all(children.map((child) => child.said('done')));
    let collections = 0;
    let isDone = false;
    done.finally(() => {
      isDone = true;
    });
    while (!isDone) {
      await db.transaction(async (tx) => tx.put('own', collections));
      await db.health.compact();
      collections++;
    }
    await done;
    for (const child of children) expect(await child.ended).toBe('0');
    // Others' commits are seen by the next change.
    await db.put('look', 1);
    expect(await db.get('number')).toBe(80);
    expect(await db.count({ prefix: 'own/' })).toBe(10);
    expect(collections).toBeGreaterThan(0);
    expect((await db.health.verify()).ok).toBe(true);
    await db.close();
  });

  it('follow each other, without a change of their own', async () => {
    const location = folder();
    const db = await open('shared', { storage: sqlite({ location }) });
    const numbers: unknown[] = [];
    const stop = db.watch({ prefix: 'number' }, (changes) => {
      for (const change of changes) if ('newValue' in change) numbers.push(change.newValue);
    });
    const child = start('count', location, '20');
    await child.said('done');
    await expect.poll(() => numbers.at(-1), { timeout: 10_000 }).toBe(20);
    expect(await db.get('number')).toBe(20);
    stop();
    await db.close();
  });

  it('keep the commit of another snapshot until its process ends', async () => {
    const location = folder();
    const storage = sqlite({ location });
    const db = await open('shared', { storage });
    const rows = (text: string) =>
      Array.from({ length: 20_000 }, (_, at): [string, unknown] => [`${at}`, { at, text }]);
    await db.putMany(rows('first'));
    const reader = start('snapshot', location);
    await reader.said('ready');
    await db.putMany(rows('second'));
    const held = await db.health.compact();
    const readerOfAnother = start('snapshot', location);
    await readerOfAnother.said('ready');
    readerOfAnother.process.kill('SIGKILL');
    await readerOfAnother.ended;
    reader.process.stdin?.write('now\n');
    expect(await reader.said(/^read /)).toBe('read 20000');
    expect(await reader.ended).toBe('0');
    // Neither of them holds a pin any more: one has released it, the other is dead.
    const free = await db.health.compact();
    expect(free.bytesAfter).toBeLessThan(0.7 * held.bytesAfter);
    expect((await db.health.verify()).ok).toBe(true);
    await db.close();
  });

  it('have one collector, and another one after it is killed', async () => {
    const location = folder();
    const first = start('snapshot', location);
    await first.said('ready');
    const db = await open('shared', { storage: sqlite({ location }) });
    await expect(db.health.compact()).rejects.toMatchObject({ code: 'blocked' });
    first.process.kill('SIGKILL');
    await first.ended;
    await expect
      .poll(
        () =>
          db.health.compact().then(
            () => 'collected',
            () => 'not yet',
          ),
        { timeout: 20_000 },
      )
      .toBe('collected');
    await db.close();
  });

  it('do not delete a store that another one has open', async () => {
    const location = folder();
    const storage = sqlite({ location });
    const child = start('snapshot', location);
    await child.said('ready');
    await expect(destroy('shared', { storage })).rejects.toMatchObject({ code: 'blocked' });
    const db = await open('shared', { storage, advanced: { mustExist: true } });
    await db.close();
    child.process.kill('SIGKILL');
    await child.ended;
    await destroy('shared', { storage });
    await expect(open('shared', { storage, advanced: { mustExist: true } })).rejects.toMatchObject({
      code: 'not-found',
      detail: 'store',
    });
  });
});
