// Checks the budgets of sync, with a server 80 ms away.

const RTT_MS = 80;
const PACK_MIB = 4;

/** Calls `most` for each figure with a budget; `rowBytes` is the JSON size of one row. */
export function syncBudgets(cases, rowBytes, most) {
  const detail = (name, what) => cases.get(name)?.ours.details[what]?.median;
  const near = cases.get('clone-near');
  const loads = near === undefined ? [] : [near.floor, ...near.variants];
  for (const { name, overOurs } of loads) {
    if (!overOurs || !name.includes('putMany')) continue;
    most(`clone without a delay / ${name.slice('hedgerow, '.length)}`, 1.5, 1 / overOurs.median);
  }
  const clone = cases.get('clone');
  for (const one of [near, clone]) {
    const sealed = one?.variants.find(({ name }) => name === 'hedgerow, encrypted');
    if (!sealed?.overOurs) continue;
    const received = (row) => row.details['received, MiB'].median;
    most(`${one.name}: encrypted / plain`, 1.15, sealed.overOurs.median);
    most(`${one.name}: bytes, encrypted / plain`, 1.03, received(sealed) / received(one.ours));
  }
  if (clone) {
    const mib = (clone.rows * rowBytes) / 2 ** 20;
    most('clone: requests', Math.ceil(mib / PACK_MIB) + 7, detail('clone', 'requests'), 'requests');
    most('clone: bytes received / bytes of JSON', 0.4, detail('clone', 'received, MiB') / mib);
    const frames = detail('clone', 'longest gap between frames, ms');
    most('clone: longest gap between frames', 34, frames, 'ms');
    most(
      'clone: longest gap between timers',
      16,
      detail('clone', 'longest gap between timers, ms'),
      'ms',
    );
  }
  for (const name of ['pull-10', 'push-10']) {
    const bytes = ['sent, bytes', 'received, bytes'].map((what) => detail(name, what));
    most(`${name}: requests`, 1, detail(name, 'requests'), 'requests');
    most(`${name}: bytes there and back`, 7000, bytes[0] + bytes[1], 'bytes');
    most(`${name}: above a round trip`, 10, cases.get(name)?.ours.median - RTT_MS, 'ms');
  }
  most('nothing new: bytes received', 400, detail('pull-nothing', 'received, bytes'), 'bytes');
  const race = (what) => detail('push-race', what) - detail('push-10', what);
  most('lost race: requests more', 2, race('requests'), 'requests');
}
