/** Opens what a killed browser left, and finds the commits after which it stands. */
import { memory, open, type Store } from 'hedgerow';
import { Control } from './control.js';
import {
  commitOf,
  isValue,
  keyOf,
  type LaneName,
  LaneState,
  PARTS,
  type Plan,
  placeOf,
  type rowOf,
} from './script.js';
import { collectorOf, commitTo, type Side } from './write.js';

const MAX_REFUSALS = 10;

/** Per lane, the number of the last acknowledged commit. */
export type Places = Partial<Record<LaneName, number>>;

export interface Checked {
  /** The browser's errors when it refused to open a database, before it did. */
  readonly refusals: readonly string[];
  /** Per lane, the commit after which each side stands; `-1` if there is no such commit. */
  readonly places: Readonly<Record<Side, Places>>;
  /** All other problems; empty, when all is well. */
  readonly problems: readonly string[];
  readonly rows: number;
  readonly root: string;
  /** Whether segments were stored that no commit knows. */
  readonly hasDebris: boolean;
  /** The places after one more commit, when it was requested. */
  readonly after: Readonly<Record<Side, Places>> | undefined;
  readonly ms: number;
}

/**
 * Checks both databases against the acknowledged commits. With `writes`, each lane then makes one more commit, and is
 * checked again.
 */
export async function check(
  plan: Plan,
  acknowledged: Readonly<Record<Side, Places>>,
  writes: boolean,
): Promise<Checked> {
  const startMs = performance.now();
  const problems: string[] = [];
  const refusals: string[] = [];
  const db = await persistently(refusals, () => open(plan.store, { durability: plan.durability }));
  const control = await persistently(refusals, () => Control.open(plan));
  const lanes = PARTS[plan.phase].map(({ lane }) => lane);

  const look = async (atLeast: Readonly<Record<Side, Places>>) => {
    const states = await statesOf(db, lanes, problems);
    const places: Record<Side, Places> = { hedgerow: {}, control: {} };
    for (const lane of lanes) {
      const least = (side: Side) => atLeast[side][lane] ?? 0;
      places.hedgerow[lane] = placeOf(plan, lane, states.get(lane)!, least('hedgerow'));
      places.control[lane] = await control.place(lane, (at) => commitOf(plan, lane, at));
    }
    return places;
  };

  const places = await look(acknowledged);
  const rows = await db.count();
  const hasDebris = rows === 0 && (await db.health.stats()).segments > 0;
  let after: Record<Side, Places> | undefined;
  if (writes) {
    const collect = collectorOf(db);
    if (collect !== undefined) {
      const { root } = db;
      await collect();
      if (db.root !== root) problems.push('collection changed the root');
      const again = await look(acknowledged);
      if (JSON.stringify(again.hedgerow) !== JSON.stringify(places.hedgerow)) {
        problems.push('collection changed what is stored');
      }
    }
    const next: Record<Side, Places> = { hedgerow: {}, control: {} };
    for (const lane of lanes) {
      // From where each side stands; a torn one has no next commit.
      const write = async (side: Side, make: (at: number) => Promise<void>) => {
        const at = (places[side][lane] ?? -1) + 1;
        next[side][lane] = at;
        if (at > 0) await make(at);
      };
      await write('hedgerow', (at) => commitTo(db, lane, at, commitOf(plan, lane, at)));
      await write('control', (at) => control.commit(lane, at, commitOf(plan, lane, at)));
    }
    after = next;
    const found = await look(next);
    if (JSON.stringify(found) !== JSON.stringify(next)) {
      problems.push(`wrote up to ${JSON.stringify(next)}, found ${JSON.stringify(found)}`);
    }
  }
  const { root } = db;
  await db.close();
  control.close();
  return {
    refusals,
    places,
    problems,
    rows,
    root,
    hasDebris,
    after,
    ms: performance.now() - startMs,
  };
}

/** Opens a database; tries again when the browser refuses, like a reloaded page. */
async function persistently<T>(refusals: string[], opening: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await opening();
    } catch (cause) {
      refusals.push(String(cause));
      if (refusals.length > MAX_REFUSALS) throw cause;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

/** Reads the rows of each lane. Rows, counts, point reads and the root must agree. */
async function statesOf(
  db: Store,
  lanes: readonly LaneName[],
  problems: string[],
): Promise<Map<LaneName, LaneState>> {
  const states = new Map(lanes.map((lane) => [lane, new LaneState()]));
  const entries = await db.scan().toArray();
  for (const [key, value] of entries) {
    const [lane] = key.split('/') as [LaneName];
    const { id, at } = value as ReturnType<typeof rowOf>;
    const isOurs = keyOf(lane, id) === key;
    if (!isOurs || !isValue(value, id, at)) {
      problems.push(`${key} has a value that nobody wrote`);
    }
    const state = states.get(lane);
    if (state === undefined) problems.push(`${key} is a key that nobody wrote`);
    else state.put(id, at);
  }
  const count = await db.count();
  if (count !== entries.length) problems.push(`${count} counted, ${entries.length} scanned`);
  const some = entries.filter((_, at) => at % 997 === 0);
  const got = await db.getMany(some.map(([key]) => key));
  if (JSON.stringify(got) !== JSON.stringify(some.map(([, value]) => value))) {
    problems.push('getMany and scan differ');
  }
  const fresh = await open('fresh', { storage: memory() });
  await fresh.putMany(entries);
  if (fresh.root !== db.root) problems.push('the root is not that of a fresh store of these rows');
  await fresh.close();
  const { verify } = db as { verify?: () => Promise<unknown> };
  if (typeof verify === 'function') {
    const verified = (await verify.call(db)) as { faults?: unknown[] } | unknown[] | undefined;
    const faults = Array.isArray(verified) ? verified : verified?.faults;
    if (faults !== undefined && faults.length > 0) {
      problems.push(`verify: ${JSON.stringify(faults).slice(0, 500)}`);
    }
  }
  return states;
}
