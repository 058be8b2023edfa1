// The budgets of section 9 of the design that the cases cover.

/** The budgets that the results tell about, each with its figure and whether it is met. */
export function budgets(results, { rows }) {
  const measured = results.filter(({ error }) => error === undefined);
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

  for (const name of ['load', 'load-shuffled']) {
    const load = cases.get(name);
    if (load === undefined) continue;
    const floor = overFloor(load);
    most(`${name} / floor (now)`, 1.5, floor);
    most(`${name} / floor (final)`, 1.25, floor);
    const dexie = load.peers.find((peer) => peer.name.startsWith('Dexie'))?.timeOverOurs.median;
    least(`Dexie / ${name} (now)`, 10, dexie);
    least(`Dexie / ${name} (final)`, 15, dexie);
    const watched = load.variants[0]?.details ?? {};
    most(`${name}: longest slice`, 12, load.ours.details['longest slice, ms']?.median, 'ms');
    most(`${name}: longest frame gap`, 34, watched['longest frame gap, ms']?.median, 'ms');
  }
  most(
    'update of 10 % / load',
    0.35,
    cases.get('update')?.ours.details['share of the load'].median,
  );
  const slicing = cases.get('slicing');
  if (slicing) most('cost of slicing', 10, 100 * (overFloor(slicing) - 1), '%');
  const put = cases.get('put');
  if (put) most('put / raw transaction (p50)', 1.5, overFloor(put));
  least('get, warm', 150_000, cases.get('get')?.ours.median, 'per second');
  const scan = cases.get('scan');
  if (scan) {
    const first = ({ details }) => details['first after open, ms'].median;
    most('scan / JSON.parse, in memory', 1.3, overFloor(scan));
    most('scan / JSON.parse, first after open', 1.3, first(scan.ours) / first(scan.floor));
  }
  // The budget is for a million rows.
  if (rows >= 1e6) most('open + first get', 100, cases.get('open')?.ours.median, 'ms');
  return list;
}

/** Time of ours in times of the floor's. */
function overFloor({ floor }) {
  return 1 / floor.timeOverOurs.median;
}
