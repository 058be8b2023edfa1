import { expect, it } from 'vitest';
import type { Change } from '../../src/index.js';
import { memory, open } from '../../src/index.js';

/** Returns the bytes of an entry with two columns, a text and a number, and a key of one byte. */
const entryBytes = (text: number) => 2 + text + 11 + 1;

/** Returns a row with an array of `members` numbers, and a text of `text` bytes. */
const row = (members: number, text: number) => ({
  title: 'x'.repeat(text),
  tags: Array.from({ length: members }, (_, at) => at),
});

/** Returns the most members of an array that the index still accepts. */
function mostMembers(text: number): number {
  const fits = (members: number) => {
    const bytes = 1 + JSON.stringify(row(members, text)).length;
    return members * entryBytes(text) <= Math.min(256 << 10, 4096 + 32 * bytes);
  };
  let most = 0;
  while (fits(most + 1)) most += 1;
  return most;
}

const indexes = { byTag: { path: ['/title', '/tags'] } };

it('an index has all members of an array or no member, for scans, watches and transactions alike', async () => {
  const db = await open('arrays', { storage: memory(), indexes });
  const most = mostMembers(400);
  expect(most).toBeGreaterThan(40);
  const seen: Change[] = [];
  let wake = () => {};
  db.watch({ index: 'byTag' }, (changes) => {
    seen.push(...changes);
    wake();
  });
  const keys = async () => (await db.scan({ index: 'byTag' }).keys().toArray()).length;
  // Repeated members count once.
  const twice = { ...row(most, 400), tags: row(most, 400).tags.flatMap((tag) => [tag, tag]) };
  for (const [value, expected] of [
    [row(most, 400), most],
    [row(most + 1, 400), 0],
    [twice, most],
    [row(1, 1100), 0],
  ] as const) {
    await db.transaction(async (tx) => {
      tx.put('k', value);
      expect((await tx.scan({ index: 'byTag' }).keys().toArray()).length).toBe(expected);
      expect(await tx.count({ index: 'byTag' })).toBe(expected);
    });
    expect(await keys()).toBe(expected);
    expect(await db.count({ index: 'byTag' })).toBe(expected);
  }
  await db.put('k', row(2, 3));
  const isTold = () =>
    seen.some((change) => change.op === 'insert' && (change.secondary as string[])[0] === 'xxx');
  // The watch may not have reported earlier changes yet.
  while (!isTold()) {
    await new Promise<void>((resolve) => {
      wake = resolve;
    });
  }
  // The reported changes add up to the entries of the index.
  const reportedKeys = new Set<string>();
  for (const { op, secondary } of seen) {
    if (op === 'delete') expect(reportedKeys.delete(JSON.stringify(secondary))).toBe(true);
    else reportedKeys.add(JSON.stringify(secondary));
  }
  const rows = await db.scan({ index: 'byTag' }).toArray();
  expect([...reportedKeys].sort()).toEqual(rows.map(([, , key]) => JSON.stringify(key)).sort());
  await db.close();
});

it('many members next to a long text are refused, at the cost of reading them', async () => {
  const db = await open('long', { storage: memory(), indexes });
  const long = { title: 'x'.repeat(1 << 20), tags: Array.from({ length: 50_000 }, (_, at) => at) };
  const line = new TextEncoder().encode(JSON.stringify({ id: 'k', ...long }));
  await db.putMany(line, { key: '/id' });
  expect(await db.count({ index: 'byTag' })).toBe(0);
  await db.transaction(async (tx) => {
    tx.put('k', { ...long, tags: [1, ...long.tags] });
    expect(await tx.count({ index: 'byTag' })).toBe(0);
  });
  expect(await db.count({})).toBe(1);
  await db.close();
});
