// One history of a store, the same on every platform: it gets `open` and a storage, and returns the root
// after each step. It uses only syntax that all platforms support, and no platform APIs.

/** Makes numbers that look random and are the same everywhere. */
function randomFrom(seed) {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state % below;
  };
}

const OWNERS = ['ann', 'bob', 'Zoë', '大島', '🦔', ''];

/** Makes `count` rows from `first` on, about 150 bytes of JSON each. */
export function rowsOf(count, first = 0) {
  const rows = [];
  for (let at = first; at < first + count; at++) {
    const random = randomFrom(at + 1);
    rows.push({
      id: `issue/${random(2 ** 31).toString(36)}-${at}`,
      title: `The ${OWNERS[random(6)]} of ${at.toString(7)} is "${random(1e6)}"`,
      owner: OWNERS[at % 6],
      priority: random(9) - 4,
      done: random(3) === 0,
      score: random(1e6) / 128,
      labels: [`l${random(10)}`, `l${random(10)}`],
    });
  }
  return rows;
}

/** Runs all steps; returns them as pairs of a name and a root. */
export async function workload({ open, storage, name, count }) {
  const steps = [];
  const db = await open(name, {
    storage,
    indexes: { byOwner: { path: '/owner', prefix: 'issue/' } },
  });
  const told = (step) => steps.push([step, db.root]);
  const rows = rowsOf(count);
  await db.putMany(rows, { key: '/id' });
  told('load');
  await db.putMany(rowsOf(count / 2, count).map((row) => [row.id, row]));
  told('merge of a second load');
  const text = rowsOf(count / 4, 2 * count).map(
    (row) => `${JSON.stringify(row, null, 1).replace(/\n/g, '')}\n`,
  );
  await db.putMany(utf8(text.join('')), { key: '/id', format: 'ndjson' });
  told('bytes with spaces');
  await db.put('issue/one', { owner: 'ann', text: 'a\u0000\ud83e\udd94"\\' });
  await db.put(
    'bytes',
    Uint8Array.from({ length: 9000 }, (_, at) => at % 251),
  );
  told('puts, one of them large');
  await db.transaction(async (tx) => {
    const one = await tx.get('issue/one');
    tx.put('issue/two', { ...one, owner: 'bob' });
    tx.delete('issue/one');
  });
  told('transaction');
  await db.deleteMany(rows.slice(0, count / 5).map(({ id }) => id));
  await db.deleteMany({ prefix: 'issue/1' });
  told('deletes');
  await db.applyPatch([
    { op: 'put', key: 'issue/patched', value: { owner: 'Zoë', n: 1 } },
    { op: 'update', key: 'issue/patched', merge: { n: 2 } },
  ]);
  told('patch');
  // Few: Hermes takes milliseconds for the 256 levels of each.
  const leaves = rows.slice(0, 40).map(({ id }, at) => ({
    key: id,
    value: Uint8Array.from([at]),
    sum: BigInt(at) * 2n ** 40n,
  }));
  await db.sumTree('balances').putMany(leaves);
  await db.sumTree('balances').delete(rows[7].id);
  told('a sum tree');
  return { db, steps };
}

/** Encodes text as bytes, for platforms that have no encoder. */
export function utf8(text) {
  const plain = unescape(encodeURIComponent(text));
  const bytes = new Uint8Array(plain.length);
  for (let at = 0; at < plain.length; at++) bytes[at] = plain.charCodeAt(at);
  return bytes;
}
