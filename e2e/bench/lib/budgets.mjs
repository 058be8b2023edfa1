// Compares results with those budgets of section 9 of the design that the cases cover.

import { syncBudgets } from './sync/budgets.mjs';

/** Returns the budgets that the results cover, each with its figure and whether it is met. */
export function budgets(results, { rows }, rowBytes) {
  const measured = results.filter(({ ours }) => ours.samples !== undefined);
  const cases = new Map(measured.map((result) => [result.name, result]));
  const list = [];
  const most = (job, limit, figure, unit = 'x') => {
    if (figure === undefined || Number.isNaN(figure)) return;
    list.push({ job, limit: `at most ${limit} ${unit}`, figure, unit, met: figure <= limit });
  };
  const least = (job, limit, figure, unit = 'x') => {
    if (figure === undefined || Number.isNaN(figure)) return;
    list.push({ job, limit: `at least ${limit} ${unit}`, figure, unit, met: figure >= limit });
  };

  const peerOf = (one, name) => one?.peers.find((peer) => peer.name === name)?.overOurs?.median;
  for (const name of ['load', 'load-shuffled']) {
    const load = cases.get(name);
    if (load === undefined) continue;
    most(`${name} / floor`, 1.25, overFloor(load));
    least(`Dexie / ${name}`, 15, peerOf(load, 'Dexie'));
    least(`sqlite-wasm OPFS / ${name}`, 3, peerOf(load, 'sqlite-wasm OPFS'));
    least(`Replicache / ${name}`, 3, peerOf(load, 'Replicache'));
    most(`${name}: longest slice`, 12, load.ours.details['longest slice, ms']?.median, 'ms');
  }
  const bytes = cases.get('bytes');
  if (bytes) {
    const objects = bytes.variants.find(({ name }) => name === 'hedgerow, objects');
    most('bytes / floor of bytes', 2, overFloor(bytes));
    least('objects / bytes', 1.5, objects?.overOurs?.median);
  }
  const patch = cases.get('patch');
  if (patch) {
    most('patch / load', 0.5, overFloor(patch));
    for (const { name, overOurs } of patch.variants) {
      if (!name.startsWith('hedgerow')) continue;
      most(
        `patch${name.slice('hedgerow'.length)} / load`,
        0.5,
        overOurs?.median * overFloor(patch),
      );
    }
  }
  const slice = (one) => one?.details?.['longest slice, ms']?.median;
  const indexed = cases.get('load-indexed');
  if (indexed) {
    const without = overFloor(indexed);
    const [two] = indexed.variants;
    most('load with an index / without', 1.6, without);
    most('load with two indexes / without', 2.2, two?.overOurs?.median * without);
    most('load with an index: longest slice', 12, slice(indexed.ours), 'ms');
    most('load with two indexes: longest slice', 12, slice(two), 'ms');
  }
  const made = cases.get('index-made')?.ours.details['longest gap between two frames, ms'];
  most('making an index: longest frame gap', 34, made?.median, 'ms');
  for (const shape of ['sum-fresh-1000', 'sum-1000-into-1000']) {
    least(`${shape}: loop of puts / putMany`, 20, overOurs(cases.get(shape)));
  }
  const fresh = cases.get('sum-fresh-10000');
  least('10,000 fresh leaves', 10_000, 1e7 / fresh?.ours.median, 'per second');
  most('10,000 fresh leaves: longest slice', 12, slice(fresh?.ours), 'ms');
  const [few, many] = ['sum-1000-into-1000', 'sum-1000-into-100000'].map((name) => cases.get(name));
  most('1,000 leaves into 100,000 / into 1,000', 2, many?.ours.median / few?.ours.median);
  most('a proof of a sum verified', 1, cases.get('sum-verify')?.ours.median, 'ms');
  const writer = cases.get('writer');
  const slow = writer?.variants.find(({ name }) => name === 'hedgerow, await put');
  least('await put / tryPut', 5, slow?.overOurs?.median);
  for (const name of ['frames', 'frames-shuffled']) {
    most(`${name}: longest frame gap`, 34, cases.get(name)?.ours.median, 'ms');
  }
  const share = cases.get('update-10')?.ours.median / cases.get('load')?.ours.median;
  most('update of 10 % / load', 0.35, share);
  const slicing = cases.get('slicing');
  if (slicing) most('cost of slicing', 10, 100 * (overFloor(slicing) - 1), '%');
  const put = cases.get('put');
  if (put) most('put / raw transaction (p50)', 1.5, overFloor(put));
  const get = cases.get('get');
  least('get, warm', 150_000, get?.ours.median, 'per second');
  least('sqlite-wasm OPFS / get', 10, peerOf(get, 'sqlite-wasm OPFS'));
  if (rows >= 1e6) {
    for (const name of ['at', 'rank']) {
      most(`${name}, warm`, 50, 1e6 / cases.get(name)?.ours.median, 'µs');
    }
  }
  const scan = cases.get('scan');
  if (scan) {
    const first = (one) => one?.details['first after open, ms'].median;
    most('scan / JSON.parse, in memory', 1.3, overFloor(scan));
    most('scan / JSON.parse, first after open', 1.3, first(scan.ours) / first(scan.floor));
  }
  most('commit to callback, 1,000 watchers', 5, cases.get('watch-1000')?.ours.median, 'ms');
  most('diff after 10 changes', 5, cases.get('diff-10')?.ours.median, 'ms');
  syncBudgets(cases, rowBytes, most);
  // The budget is for a million rows.
  if (rows >= 1e6) most('open + first get', 100, cases.get('open')?.ours.median, 'ms');
  return list;
}

/** Returns the floor's time over our time. */
function overOurs(one) {
  return one?.floor?.overOurs?.median;
}

/** Returns our time over the floor's time. */
function overFloor({ floor }) {
  return floor?.overOurs ? 1 / floor.overOurs.median : undefined;
}
