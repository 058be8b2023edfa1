// Measures lazy clones in Node over a remote in memory: round trips, requests and bytes until the first row is read, of
// a scan of 100 rows, of random reads, of a scan of all. `js/hedgerow/test/sync/lazy/lazy-repair.test.ts` counts a repair. A request
// begins a new round trip if it was made after the answer of another had come.
//
//     node scripts/studies/measure-lazy.mjs [--rows 1000000]

import { parseArgs } from 'node:util';
import { clone, memory, open } from '../../js/hedgerow/dist/index.js';
import { bucket, memoryRemote } from '../../js/hedgerow/dist/sync/index.js';

const { values } = parseArgs({ options: { rows: { type: 'string', default: '1000000' } } });
const count = Number(values.rows);
const STATES = ['open', 'in progress', 'done'];
const WORDS = 'local first storage in the browser swallows an initial sync and stays fast'.split(
  ' ',
);
const keyOf = (nth) => `issue/${String(nth).padStart(8, '0')}`;
/** Makes a row of about 150 bytes, as of a list of issues. */
const rowOf = (nth) => ({
  id: keyOf(nth),
  title: Array.from({ length: 6 }, (_, at) => WORDS[(nth * 7 + at * 13) % WORDS.length]).join(' '),
  state: STATES[nth % 3],
  modified: 1_700_000_000_000 + ((nth * 7919) % 1e9),
  points: (nth * 31) % 100,
});

/** Wraps a remote to count round trips: chains in which each request waited for the one before. */
function counted(inner) {
  const seen = { trips: 0, requests: 0, bytes: 0 };
  const call =
    (work) =>
    async (...args) => {
      const trip = seen.trips + 1;
      seen.requests += 1;
      const answer = await work(...args);
      await new Promise((resolve) => setTimeout(resolve, 5));
      seen.trips = Math.max(seen.trips, trip);
      seen.bytes += answer?.bytes?.length ?? answer?.length ?? 0;
      return answer;
    };
  return {
    seen,
    remote: {
      ...inner,
      get: call(inner.get),
      readHead: call(inner.readHead),
      readHeadSince: call(inner.readHeadSince),
    },
  };
}

/** Returns what a call adds to the counts. */
async function cost(seen, work) {
  const before = { ...seen };
  const startMs = performance.now();
  await work();
  return {
    trips: seen.trips - before.trips,
    requests: seen.requests - before.requests,
    bytes: seen.bytes - before.bytes,
    ms: performance.now() - startMs,
  };
}
const told = ({ trips, requests, bytes, ms }) =>
  `${trips} round trips, ${requests} requests, ${bytes.toLocaleString('en')} bytes, ${ms.toFixed(0)} ms`;

const inner = memoryRemote();
const source = await open('source', { storage: memory() });
const encoder = new TextEncoder();
await source.putMany(
  (function* () {
    for (let nth = 0; nth < count; nth += 1000) {
      let text = '';
      for (let at = nth; at < Math.min(count, nth + 1000); at++)
        text += `${JSON.stringify(rowOf(at))}\n`;
      yield encoder.encode(text);
    }
  })(),
  { key: '/id' },
);
const sourceLink = await source.connect(bucket(inner, { probe: false }));
await sourceLink.push();
const objects = await inner.list('p/');
const stored = objects.reduce((sum, { length }) => sum + length, 0);
console.log(
  `${count.toLocaleString('en')} rows; the remote has ${stored.toLocaleString('en')} bytes in ${objects.length} objects`,
);

const one = async (name) => {
  const { seen, remote } = counted(inner);
  let made;
  const opening = await cost(seen, async () => {
    made = await clone(name, bucket(remote, { probe: false }), {
      ...{ storage: memory(), mode: 'lazy' },
    });
  });
  return { seen, opening, ...made };
};
const { seen, opening, db, connection } = await one('first');
console.log(`open:                  ${told(opening)}`);
const first = await cost(seen, () => db.get(keyOf(count >> 1)));
console.log(`first get:             ${told(first)}`);
const both = { ...seen, ms: opening.ms + first.ms };
console.log(`open to first get:     ${told(both)}`);
const scan = await cost(seen, () => db.scan({ gte: keyOf(count >> 1), limit: 100 }).toArray());
console.log(`scan of 100 from there: ${told(scan)}`);
const cold = await cost(seen, () => db.scan({ gte: keyOf(count >> 2), limit: 100 }).toArray());
console.log(`scan of 100 elsewhere: ${told(cold)}`);
const many = await cost(seen, () =>
  db.getMany(Array.from({ length: 10 }, (_, at) => keyOf((at * 99_991 + 17) % count))),
);
console.log(`getMany of 10:         ${told(many)}`);
const put = await cost(seen, () => db.put(keyOf((count * 7) >> 3), 'changed'));
console.log(`put of one row:        ${told(put)}`);
const pushed = await cost(seen, () => connection.push());
console.log(`push of it:            ${told(pushed)}`);
await db.close();

const whole = await one('whole');
const all = await cost(whole.seen, async () => {
  let rows = 0;
  for await (const _ of whole.db.scan()) rows += 1;
  if (rows !== count) throw new Error(`${rows} rows`);
});
console.log(`scan of all:           ${told(all)}`);
await whole.db.close();

const before = await one('prefetch');
const tenth = await cost(before.seen, () => before.connection.prefetch({ lt: keyOf(count / 10) }));
console.log(`prefetch of a tenth:   ${told(tenth)}`);
await before.db.close();
