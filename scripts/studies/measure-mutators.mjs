// Measures mutators in Node over storage and a server in memory: a call until its watcher is called, calls that are
// replayed on remote changes, a pull that acknowledges them, and a first pull.
//
//     node scripts/studies/measure-mutators.mjs [--calls 10000] [--changes 10000] [--rows 100000] [--rounds 3]

import { parseArgs } from 'node:util';
import { memory, open } from '../../js/hedgerow/dist/index.js';
import { mutators } from '../../js/hedgerow/dist/sync/index.js';

const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '10000' },
    changes: { type: 'string', default: '10000' },
    rows: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '3' },
  },
});
const [calls, changes, rows, rounds] = ['calls', 'changes', 'rows', 'rounds'].map((name) =>
  Number(values[name]),
);
const SINGLE = 1000;
const PART_BYTES = 64 << 10;
const SETTLE_MS = 1500;

const keyOf = (nth) => `issue/${String(nth).padStart(8, '0')}`;
/** Makes a row of about 130 bytes. */
const rowOf = (nth, note = 'open') => ({
  title: `local first storage swallows an initial sync and stays fast ${(nth * 7919) % 1e6}`,
  state: note,
  modified: 1_700_000_000_000 + ((nth * 7919) % 1e9),
});
const putOf = (nth, note) => ({ op: 'put', key: keyOf(nth), value: rowOf(nth, note) });

const ours = {
  async close(tx, { nth }) {
    const issue = await tx.get(keyOf(nth));
    tx.put(keyOf(nth), { ...issue, state: 'closed' });
  },
};

let opened = 0;
let next;
async function bound() {
  const db = await open(`store-${opened++}`, { storage: memory() });
  const app = await db.connect(
    mutators({
      mutators: ours,
      pull: () => respond(next),
      push: () => new Response('{}'),
      // A transaction between the calls is measured, too.
      localWrites: true,
    }),
  );
  return [db, app];
}

const encoder = new TextEncoder();
const answer = (cookie, patch, lastMutationIDChanges = {}) =>
  encoder.encode(JSON.stringify({ cookie, lastMutationIDChanges, patch }));

/** Makes a response that arrives in parts, as from a network. */
function respond(bytes) {
  let at = 0;
  const body = new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.subarray(at, at + PART_BYTES));
      at += PART_BYTES;
    },
  });
  return new Response(body, { headers: { 'content-type': 'application/json' } });
}
const nths = (count) => Array.from({ length: count }, (_, nth) => nth);

/** Measures the longest time that the thread was held, as a timer sees it. */
async function watched(work) {
  let longest = 0;
  let last = performance.now();
  let isOver = false;
  const tick = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isOver) setImmediate(tick);
  };
  setImmediate(tick);
  const before = performance.now();
  await work();
  const ms = performance.now() - before;
  isOver = true;
  return { ms, longest };
}

const quantile = (sorted, at) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * at))];
const ms = (value) => `${value.toFixed(value < 10 ? 2 : 0)} ms`;
const best = (all) => all.reduce((one, other) => (other.ms < one.ms ? other : one));

const first = answer(
  1,
  nths(rows).map((nth) => putOf(nth)),
);
const pulls = [];
for (let round = 0; round < rounds; round++) {
  const [db, app] = await bound();
  next = first;
  pulls.push(await watched(() => app.pull()));
  if ((await db.count()) !== rows) throw new Error('rows are missing');
  await db.close();
}
const pulled = best(pulls);
console.log(
  `first pull of ${rows.toLocaleString('en')} rows, ${(first.length / 2 ** 20).toFixed(1)} MiB: ${ms(pulled.ms)}, longest slice ${ms(pulled.longest)}`,
);

const [db, app] = await bound();
next = first;
await app.pull();
let heard = () => {};
db.watch({}, () => heard());
async function latencies(change) {
  const times = [];
  for (let nth = 0; nth < SINGLE; nth++) {
    const before = performance.now();
    const told = new Promise((resolve) => {
      heard = resolve;
    });
    await change((nth * 7919) % rows);
    await told;
    times.push(performance.now() - before);
  }
  times.sort((a, b) => a - b);
  return `p50 ${ms(quantile(times, 0.5))}, p99 ${ms(quantile(times, 0.99))}`;
}
const call = await latencies((nth) => app.mutate.close({ nth }));
const transaction = await latencies((nth) =>
  db.transaction(async (tx) => tx.put(keyOf(nth), { ...(await tx.get(keyOf(nth))), nth })),
);
console.log(
  `until a watcher is called, ${SINGLE} times on ${rows.toLocaleString('en')} rows: of a call ${call}; of a transaction ${transaction}`,
);
await db.close();

const replays = [];
const acknowledgements = [];
for (let round = 0; round < rounds; round++) {
  const [store, bind] = await bound();
  next = answer(
    1,
    nths(changes).map((nth) => putOf(nth)),
  );
  await bind.pull();
  await Promise.all(nths(calls).map((nth) => bind.mutate.close({ nth: nth % changes })));
  const remote = (cookie, note, ids) =>
    answer(
      cookie,
      nths(changes).map((nth) => putOf(nth, note)),
      ids,
    );
  next = remote(2, 'urgent');
  // Excludes the collection after so many commits, and the garbage of this script.
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  replays.push(await watched(() => bind.pull()));
  if (bind.calls().length !== calls) throw new Error('calls are missing');
  if ((await store.get(keyOf(0))).state !== 'closed') throw new Error('calls were not replayed');
  await bind.push();
  next = remote(3, 'done', { [bind.calls()[0].clientID]: calls });
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  acknowledgements.push(await watched(() => bind.pull()));
  if (bind.calls().length !== 0) throw new Error('calls were not acknowledged');
  await store.close();
}
const told = (all) => {
  const longest = all.map(({ longest }) => longest).sort((a, b) => a - b);
  return `${ms(best(all).ms)}, longest slice of each round ${longest.map(ms).join(', ')}`;
};
console.log(
  `${calls.toLocaleString('en')} calls replayed on ${changes.toLocaleString('en')} remote changes, the pull included: ${told(replays)}`,
);
console.log(
  `a pull of as many changes that acknowledges ${calls.toLocaleString('en')} calls: ${told(acknowledgements)}`,
);
