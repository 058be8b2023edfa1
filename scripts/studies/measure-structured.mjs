// Compares structured values with plain JSON: `node scripts/studies/measure-structured.mjs [--rows 2000]`. First the code
// alone, row by row: `encodeStructured` and `JSON.stringify` with `JSON.stringify`, `JSON.parse` and `decodeStructured`
// with `JSON.parse`. Then calls of a store in memory, which hold both kinds of rows. Rounds alternate. Prints the
// fastest round of each, and their ratios.

import { memory, open } from '../../js/hedgerow/dist/index.js';
import { importSource } from '../lib/source.mjs';

const { decodeStructured, encodeStructured } = await importSource(
  ...['js', 'hedgerow', 'src', 'store', 'tables', 'values', 'structured.ts'],
);

const at = process.argv.indexOf('--rows');
const count = at < 0 ? 2000 : Number(process.argv[at + 1]);
const ROUNDS = 200;
/** Of calls for one row each. */
const CALLS = 200;

const issue = (index) => ({
  id: `issue/${String(index).padStart(8, '0')}`,
  title: `The quick brown fox jumps over issue ${index}`,
  status: index % 3 ? 'open' : 'closed',
  owner: `user${index % 97}`,
  priority: index % 5,
  modified: 1_700_000_000_000 + index,
  isPinned: index % 10 === 0,
});
const created = (index) => new Date(1_700_000_000_000 + index * 60_000);
const list = (shape) => Array.from({ length: count }, (_, index) => shape(index));
const issues = list((index) => ({ ...issue(index), created: created(index) }));

const shapes = {
  'one date': issues,
  'no date': list((index) => ({ ...issue(index), place: index / 7 })),
  nested: list((index) => ({ ...issue(index), tags: ['a', 'b'], of: { a: [1, { b: index }] } })),
  'a set, a map': list((index) => ({
    ...issue(index),
    tags: new Set(['a', 'b']),
    votes: new Map([['ada', index]]),
  })),
};

/** Times each work, and returns its fastest round, in microseconds for one row. */
async function fastest(works) {
  const best = {};
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, [work, rows]] of Object.entries(works)) {
      const startMs = performance.now();
      await work(rows);
      const us = (1000 * (performance.now() - startMs)) / rows.length;
      best[name] = Math.min(best[name] ?? Number.POSITIVE_INFINITY, us);
    }
  }
  return best;
}

function print(name, structured, plain) {
  const [own, other] = [structured.toFixed(2).padStart(6), plain.toFixed(2).padStart(6)];
  const ratio = (structured / plain).toFixed(2);
  console.log(`${name.padEnd(22)}${own} us, plain JSON ${other} us: x ${ratio}`);
}

const each = (call) => (rows) => {
  for (const row of rows) call(row);
};

for (const [name, rows] of Object.entries(shapes)) {
  // The contents of a plain table with the same row.
  const plain = rows.map((row) => JSON.stringify(row));
  const stored = rows.map((row) => JSON.stringify(encodeStructured(row)));
  const best = await fastest({
    write: [each(JSON.stringify), rows],
    ownWrite: [each((row) => JSON.stringify(encodeStructured(row))), rows],
    read: [each((text) => JSON.parse(text)), plain],
    ownRead: [each((text) => decodeStructured(JSON.parse(text))), stored],
  });
  print(`${name}: write`, best.ownWrite, best.write);
  print(`${name}: read`, best.ownRead, best.read);
}

/** Times the calls of a store whose rows are kept in one way. */
async function callsOf(name, encode, decode) {
  const db = await open(name, { storage: memory() });
  await db.putMany(issues.map(encode), { key: '/id' });
  function* rows() {
    for (const row of issues) yield encode(row);
  }
  const scan = async () => {
    for await (const [, value] of db.scan()) decode(value);
  };
  const one = (call) => async (some) => {
    for (const row of some) await call(row);
  };
  const some = issues.filter((_, index) => index % Math.ceil(count / CALLS) === 0);
  return {
    [`${name} scan`]: [scan, issues],
    [`${name} get`]: [one(async (row) => decode(await db.get(row.id))), some],
    [`${name} put`]: [one((row) => db.put(row.id, encode(row))), some],
    [`${name} putMany`]: [() => db.putMany(rows(), { key: '/id' }), issues],
  };
}

const same = (value) => value;
const best = await fastest({
  ...(await callsOf('plain', same, same)),
  ...(await callsOf('structured', encodeStructured, decodeStructured)),
});
for (const call of ['scan', 'get', 'put', 'putMany']) {
  print(`one date: ${call}`, best[`structured ${call}`], best[`plain ${call}`]);
}
