// Measures sync in Node over a remote in memory: the traffic for ten rows of many, and the time of a clone compared
// with a `putMany` of the same rows, with a plain download (rows as NDJSON, gzipped, inflated and put), and with a
// clone of the same remote encrypted.
//
//     node scripts/studies/measure-sync.mjs [--rows 1000000] [--rounds 3]

import { parseArgs } from 'node:util';
import { gunzipSync, gzipSync } from 'node:zlib';
import { memory, open } from '../../js/hedgerow/dist/index.js';
import { remoteKeys } from '../../js/hedgerow/dist/sync/encryption/index.js';
import { bucket, memoryRemote } from '../../js/hedgerow/dist/sync/index.js';

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '3' },
  },
});
const [count, rounds] = [Number(values.rows), Number(values.rounds)];
const STATES = ['open', 'in progress', 'done'];
const WORDS = 'local first storage in the browser swallows an initial sync and stays fast'.split(
  ' ',
);
/** Makes a row of about 150 bytes, as of a list of issues. */
const rowOf = (nth) => ({
  id: `issue/${String(nth).padStart(8, '0')}`,
  title: Array.from({ length: 6 }, (_, at) => WORDS[(nth * 7 + at * 13) % WORDS.length]).join(' '),
  state: STATES[nth % 3],
  modified: 1_700_000_000_000 + ((nth * 7919) % 1e9),
  points: (nth * 31) % 100,
});

let opened = 0;
const fresh = () => open(`store-${opened++}`, { storage: memory() });

async function timed(call) {
  const before = performance.now();
  await call();
  return performance.now() - before;
}

const fastest = (all) => Math.min(...all);
const ms = (value) => `${value.toFixed(value < 100 ? 1 : 0)} ms`;
const kb = (bytes) => `${bytes.toLocaleString('en')} bytes`;

const text = Array.from({ length: count }, (_, nth) => JSON.stringify(rowOf(nth))).join('\n');
const ndjson = new TextEncoder().encode(text);
const gzipped = gzipSync(ndjson, { level: 6 });
const remote = memoryRemote();
const source = await fresh();
await source.putMany(ndjson, { key: '/id' });
const link = await source.connect(bucket(remote, { probe: false }));
const pushMs = await timed(() => link.push());
const pushed = link.traffic;

const encryption = remoteKeys({ place: 'room', keys: () => new Uint8Array(32).fill(7) });
const sealedRemote = memoryRemote();
const sealedLink = await source.connect(
  bucket(sealedRemote, { probe: false, encryption, name: 'sealed' }),
);
const sealedPushMs = await timed(() => sealedLink.push());

const times = { put: [], plain: [], clone: [], sealed: [] };
const cloned = {};
for (let round = 0; round < rounds; round++) {
  const [put, plain] = [await fresh(), await fresh()];
  times.put.push(await timed(() => put.putMany(ndjson, { key: '/id' })));
  times.plain.push(await timed(() => plain.putMany(gunzipSync(gzipped), { key: '/id' })));
  for (const db of [put, plain]) await db.close();
  const clones = [
    ['clone', remote, undefined],
    ['sealed', sealedRemote, encryption],
  ];
  // Each is the first in turn.
  for (const [name, from, keys] of round % 2 ? clones.toReversed() : clones) {
    const db = await fresh();
    const other = await db.connect(bucket(from, { probe: false, encryption: keys }));
    times[name].push(await timed(() => other.pull()));
    cloned[name] = other.traffic;
    await db.close();
  }
}
console.log(
  `${count.toLocaleString('en')} rows, ${kb(ndjson.length)} of NDJSON, ${kb(gzipped.length)} gzipped`,
);
console.log(`first push: ${ms(pushMs)}, ${pushed.requests} requests, ${kb(pushed.sentBytes)}`);
console.log(`putMany: ${ms(fastest(times.put))}; gunzip and putMany: ${ms(fastest(times.plain))}`);
const ratio = fastest(times.clone) / fastest(times.put);
console.log(
  `clone: ${ms(fastest(times.clone))}, ${ratio.toFixed(2)} x putMany, ${cloned.clone.requests} requests, ${kb(cloned.clone.receivedBytes)}`,
);
const sealedRatio = fastest(times.sealed) / fastest(times.clone);
const sealedBytes = cloned.sealed.receivedBytes / cloned.clone.receivedBytes;
console.log(
  `encrypted: first push ${ms(sealedPushMs)}; clone ${ms(fastest(times.sealed))}, ${sealedRatio.toFixed(3)} x plain, ` +
    `${cloned.sealed.requests} requests, ${kb(cloned.sealed.receivedBytes)}, ${sealedBytes.toFixed(4)} x plain`,
);
console.log(`all rounds: ${JSON.stringify(times, (_, one) => (one > 0 ? Math.round(one) : one))}`);

const reader = await fresh();
const readerLink = await reader.connect(bucket(remote, { probe: false }));
await readerLink.pull();
const costs = [];
for (let round = 0; round < 5; round++) {
  const rows = Array.from({ length: 10 }, (_, at) => rowOf(((round * 10 + at) * 99_991) % count));
  await source.putMany(rows.map((row) => [row.id, { ...row, state: `changed ${round}` }]));
  const [before, readerBefore] = [link.traffic, readerLink.traffic];
  const push = await timed(() => link.push());
  const pull = await timed(() => readerLink.pull());
  const [after, readerAfter] = [link.traffic, readerLink.traffic];
  costs.push({
    push,
    pull,
    pushRequests: after.requests - before.requests,
    sent: after.sentBytes - before.sentBytes,
    pullRequests: readerAfter.requests - readerBefore.requests,
    received: readerAfter.receivedBytes - readerBefore.receivedBytes,
  });
}
for (const one of costs) {
  console.log(
    `10 rows: push ${ms(one.push)}, ${one.pushRequests} request(s), ${kb(one.sent)}; ` +
      `pull ${ms(one.pull)}, ${one.pullRequests} request(s), ${kb(one.received)}`,
  );
}
const quiet = readerLink.traffic;
await readerLink.pull();
console.log(
  `nothing new: ${readerLink.traffic.requests - quiet.requests} request, ${kb(readerLink.traffic.receivedBytes - quiet.receivedBytes)}`,
);
process.exit(0);
