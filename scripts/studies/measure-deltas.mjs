// `node scripts/studies/measure-deltas.mjs [--rows 1000000]`: measures the bytes of deltas between two commits, and the times
// to make and to apply them, in Node over `memory()`. Random rows are changed, or deleted, or adjacent rows. Prints the
// fastest of five rounds, next to a `putMany` or `deleteMany` of the same rows.

import { parseArgs } from 'node:util';
import { deflateRawSync } from 'node:zlib';
import { refuseDevBuild } from '../lib/dev-build.mjs';
import { runMain } from '../lib/run.mjs';
import { importSource } from '../lib/source.mjs';

const ROUNDS = 5;

/** Makes a row of about 150 bytes, with an id that does not compress. */
function row(index, stamp = 0) {
  const key = `issue/${String(index).padStart(8, '0')}`;
  const id = Math.imul(index + 1, 0x9e3779b1) >>> 0;
  const title = `The quick brown fox jumps over issue ${id.toString(36)}`;
  const modified = 1_700_000_000_000 + id + stamp;
  return [key, { id: key, title, status: 'open', owner: `user${id % 97}`, modified }];
}

/** Returns random numbers below `end`, without repeats. */
function numbers(count, end) {
  const found = new Set();
  for (let state = 1; found.size < count; ) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    found.add(Math.floor((state / 2 ** 32) * end));
  }
  return [...found];
}

async function timed(work) {
  const startMs = performance.now();
  const result = await work();
  return [performance.now() - startMs, result];
}

/** Returns the branch head of a handle: a snapshot uses it in the turn of its call. */
function headOf({ BranchHead }, db) {
  const { useView } = BranchHead.prototype;
  let found;
  BranchHead.prototype.useView = function (view) {
    found = this;
    return useView.call(this, view);
  };
  db.snapshot().close();
  BranchHead.prototype.useView = useView;
  return found;
}

async function measure(source, db, { name, change }) {
  const times = { change: [], make: [], apply: [] };
  let made;
  for (let round = 0; round < ROUNDS; round++) {
    const before = db.snapshot();
    const receiver = await db.branches.open('receiver', { from: before });
    const onto = Buffer.from(before.root, 'hex');
    times.change.push((await timed(() => change(db, round + 1)))[0]);
    const { shared } = headOf(source, db);
    const [makeMs, delta] = await timed(() =>
      source.makeDelta(shared, onto, Buffer.from(db.root, 'hex')),
    );
    made = delta;
    times.make.push(makeMs);
    const { deltaBytes, after } = delta;
    const applied = { deltas: [deltaBytes], after, onto, durability: 'relaxed' };
    const [applyMs, { outcome }] = await timed(() =>
      source.applyDeltas(headOf(source, receiver), applied),
    );
    if (outcome !== 'applied' || receiver.root !== db.root) throw new Error(`${name}: ${outcome}`);
    times.apply.push(applyMs);
    await db.branches.reset(before);
    await receiver.close();
    await db.branches.delete('receiver');
    before.close();
  }
  const least = (all) => Math.min(...all).toFixed(1);
  const { deltaBytes, edits } = made;
  const deflated = deflateRawSync(deltaBytes, { level: 6 }).length;
  const cells = [edits, deltaBytes.length, deflated, least(times.make), least(times.apply)];
  console.log(`| ${[name, ...cells, least(times.change)].join(' | ')} |`);
}

await runMain(async () => {
  refuseDevBuild();
  const { values } = parseArgs({ options: { rows: { type: 'string', default: '1000000' } } });
  const count = Number(values.rows);
  const source = await importSource('scripts', 'lib', 'deltas.mjs');
  const db = await source.open('deltas', { storage: source.memory() });
  await db.putMany(
    (function* rows() {
      for (let index = 0; index < count; index++) yield row(index);
    })(),
  );
  console.log(
    '| edits | count | bytes | deflated | make, ms | apply, ms | the change itself, ms |',
  );
  console.log('|---|---|---|---|---|---|---|');
  const puts = (many) => ({
    name: `${many} random rows changed`,
    change: (on, stamp) => on.putMany(numbers(many, count).map((index) => row(index, stamp))),
  });
  const deletes = (many, name, from) => ({
    name: `${many} ${name}`,
    change: (on) => on.deleteMany(from.map((index) => row(index)[0])),
  });
  const inARow = (many) => Array.from({ length: many }, (_, at) => (count >>> 1) + at);
  for (const job of [
    puts(10),
    puts(1000),
    puts(10_000),
    deletes(1000, 'random rows deleted', numbers(1000, count)),
    deletes(10_000, 'rows in a row deleted', inARow(10_000)),
  ]) {
    await measure(source, db, job);
  }
  await db.close();
});
