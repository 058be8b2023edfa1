/** Live queries over a store in a worker. */
import { afterEach, describe, expect, it } from 'vitest';
import { memory, open, rowType, table } from '../../src/index.js';
import { ObservedQuery, ROW, ROWS } from '../../src/live/frameworks/observed-query.js';
import { live, liveCount, liveRow } from '../../src/live/index.js';
import { connect } from '../../src/worker/index.js';
import { PART } from '../../src/worker/protocol.js';
import { serve } from '../../src/worker/serve.js';
import { closeAll, opened, relay } from '../support/doubles/worker-wire.js';
import { ofKind } from '../support/error-kind.js';
import { forSeeds } from '../support/property.js';
import { until, world } from '../support/worlds/worker-world.js';

afterEach(closeAll);

interface Issue {
  id: string;
  title: string;
  modified: number;
}
const issues = table({ schema: rowType<Issue>(), key: 'id', indexes: { byTime: ['modified'] } });
const tables = { issues };

async function started(count = 200) {
  const { page, host, sent } = relay();
  const db = await open('live', { storage: memory(), tables });
  await db.issues.putMany(
    Array.from({ length: count }, (_, n) => ({ id: `i${n}`, title: `T${n}`, modified: n })),
  );
  const served = serve({ open: async () => db, port: host });
  opened.push(() => served.close());
  const remote = await connect<typeof tables>(page);
  opened.push(() => remote.close());
  return { db, remote, sent };
}

const ready = (shown: { get(): { status: string; isStale: boolean } }) =>
  until(() => shown.get().status === 'ready' && !shown.get().isStale);

describe('a live query', () => {
  it('is loading, then shows rows, and unchanged ones stay the same objects', async () => {
    const { remote, db, sent } = await started();
    const shown = live(remote.issues.orderBy('modified', 'desc').limit(10));
    expect(shown.get()).toMatchObject({ status: 'loading', rows: [], isStale: false });
    let called = 0;
    shown.subscribe(() => called++);
    await ready(shown);
    expect(called).toBe(1);
    const before = shown.get().rows;
    expect(before[0]).toEqual({ id: 'i199', title: 'T199', modified: 199 });
    const texts = sent.filter(([tag]) => tag === PART).length;
    await db.issues.update('i5', { title: 'elsewhere' });
    await db.issues.update('i195', { title: 'changed' });
    await until(() => shown.get().rows[4]?.title === 'changed');
    const { rows } = shown.get();
    expect(rows.map((row, at) => row === before[at])).toEqual(rows.map((_, at) => at !== 4));
    expect(called).toBe(2);
    // One row was sent, and no other again.
    const parts = sent.filter(([tag]) => tag === PART).slice(texts);
    expect(parts.map(([, , text]) => JSON.parse(text as string))).toEqual([[[rows[4]]]]);
    expect(shown.get()).toBe(shown.get());
    // A row moves: the same object at another place.
    const first = rows[9] as Issue;
    await db.issues.delete('i199');
    await until(() => shown.get().rows[8] === first);
  });

  it('has the offset of the shown rows, also of stale ones', async () => {
    const { remote, db } = await started();
    for (const store of [db, remote]) {
      const at = (offset: number) =>
        (store as typeof db).issues.orderBy('modified').offset(offset).limit(5);
      const shown = live(at(20));
      const states: [offset: number, first: number | undefined, isStale: boolean][] = [];
      const note = () => {
        const { offset, rows, isStale } = shown.get();
        states.push([offset, rows[0]?.modified, isStale]);
      };
      shown.subscribe(note);
      await ready(shown);
      shown.change(at(100));
      note();
      await ready(shown);
      note();
      for (const [offset, first] of states) if (first !== undefined) expect(first).toBe(offset);
      expect(states.at(-1)).toEqual([100, 100, false]);
    }
  });

  it('keeps rows that a window and the next one share', async () => {
    const { remote } = await started();
    const at = (offset: number) => remote.issues.orderBy('modified').offset(offset).limit(20);
    const shown = live(at(0));
    shown.subscribe(() => {});
    await ready(shown);
    for (let offset = 5; offset <= 50; offset += 5) {
      const before = shown.get().rows;
      shown.change(at(offset));
      expect(shown.get()).toMatchObject({ status: 'ready', isStale: true });
      await ready(shown);
      expect(shown.get().rows.map(({ modified }) => modified)).toEqual(
        Array.from({ length: 20 }, (_, n) => offset + n),
      );
      expect(shown.get().rows.slice(0, 15)).toEqual(before.slice(5));
      for (let same = 0; same < 15; same++) expect(shown.get().rows[same]).toBe(before[same + 5]);
    }
  });

  it('of equal queries is one in the worker', async () => {
    const { remote, sent } = await started();
    const one = live(remote.issues.orderBy('modified').limit(3));
    one.subscribe(() => {});
    await ready(one);
    const count = sent.length;
    const other = live(remote.issues.orderBy('modified').limit(3));
    expect(other.get().rows).toBe(one.get().rows);
    expect(sent.length).toBe(count);
  });

  it('of a range, a row, an entry and a count follow their store', async () => {
    const { remote, db } = await started();
    const range = live(remote, { prefix: 'issues/i1', limit: 2 });
    const row = liveRow(remote.issues, 'i7');
    const plain = liveRow<string>(remote, 'issues/i7', (_, value) => (value as Issue).title);
    const count = liveCount(remote.issues.where({ modified: { gte: 100 } }));
    const all = liveCount(remote, { prefix: 'issues/' });
    for (const one of [range, row, plain, count, all]) one.subscribe(() => {});
    for (const one of [range, row, plain, count, all]) await ready(one);
    expect(range.get().rows[0]?.[0]).toBe('issues/i1');
    expect(row.get().value?.title).toBe('T7');
    expect(plain.get().value).toBe('T7');
    expect([count.get().count, all.get().count]).toEqual([100, 200]);
    await db.issues.delete('i7');
    await db.issues.put({ id: 'new', title: 'N', modified: 500 });
    await until(() => row.get().value === undefined && count.get().count === 101);
    await until(() => all.get().count === 200 && plain.get().value === undefined);
  });

  it('shows errors, and the exceptions of rowOf', async () => {
    const { remote } = await started(3);
    const wrong = live(remote, { index: 'none' });
    wrong.subscribe(() => {});
    await until(() => wrong.get().status === 'error');
    expect(wrong.get().error).toMatchObject(ofKind('invalid-argument'));
    const thrown = new Error('mine');
    const odd = live({
      source: () => ({
        db: remote,
        options: { prefix: 'issues/' },
        rowOf: () => {
          throw thrown;
        },
      }),
    });
    odd.subscribe(() => {});
    await until(() => odd.get().status === 'error');
    expect(odd.get().error).toBe(thrown);
  });

  it('begins again after a failed query', async () => {
    // It makes of some rows a value that cannot cross.
    const decode = (stored: unknown) => {
      const row = stored as Issue;
      return row.title === 'odd' ? { ...row, f: () => 1 } : row;
    };
    const odd = table({
      schema: rowType<Issue>(),
      key: 'id',
      values: { encode: (row: Issue) => row, decode },
      indexes: { byTime: ['modified'] },
    });
    const { page, store } = world({ odd });
    const remote = await page();
    const db = (await store()) as unknown as typeof remote;
    const rows = ['a', 'b', 'c', 'd'].map((id, modified) => ({ id, title: id, modified }));
    await remote.odd.putMany(rows);
    const shown = live(remote.odd.orderBy('modified').limit(2));
    shown.subscribe(() => {});
    await ready(shown);
    await db.odd.update('a', { title: 'odd' });
    await until(() => shown.get().status === 'error');
    expect(shown.get()).toMatchObject({
      error: { code: 'invalid-argument', detail: 'value' },
      rows: rows.slice(0, 2),
    });
    shown.change(remote.odd.where({ modified: { gte: 2 } }).orderBy('modified'));
    await ready(shown);
    expect(shown.get().rows).toEqual(rows.slice(2));
  });

  it('lives in the bindings of frameworks like one of a page', async () => {
    const { remote, db } = await started();
    const query = (limit: number) => remote.issues.orderBy('modified', 'desc').limit(limit);
    const first = ObservedQuery.of(ROWS).next([query(3)]);
    const stop = first.subscribe(() => {});
    await until(() => first.get().status === 'ready');
    // Arguments that are equal by value show the same.
    expect(first.next([query(3)]).get()).toBe(first.get());
    const next = first.next([query(5)]);
    expect(next.get()).toMatchObject({ status: 'ready', isStale: true, rows: first.get().rows });
    const stopNext = next.subscribe(() => {});
    await until(() => next.get().rows.length === 5);
    expect(next.get().rows[0]).toBe(first.get().rows[0]);
    const row = ObservedQuery.of(ROW).next([remote.issues, 'i3']);
    const stopRow = row.subscribe(() => {});
    await db.issues.update('i3', { title: 'changed' });
    await until(() => (row.get().value as Issue | undefined)?.title === 'changed');
    for (const end of [stop, stopNext, stopRow]) end();
  });

  it('ends in the worker when its last listener has gone', async () => {
    const { remote, db, sent } = await started();
    const shown = live(remote.issues.orderBy('modified', 'desc').limit(5));
    const stop = shown.subscribe(() => {});
    await ready(shown);
    stop();
    shown.close();
    await remote.count();
    const count = sent.filter(([tag]) => tag === PART).length;
    await db.issues.put({ id: 'z', title: 'Z', modified: 1e6 });
    await remote.count();
    expect(sent.filter(([tag]) => tag === PART).length).toBe(count);
  });
});

it('live windows show the rows of a query, through random changes', async () => {
  await forSeeds(12, async (from, _seed, begin) => {
    const { remote, db } = await started(40);
    const query = () => {
      const order = remote.issues.orderBy('modified', from.pick(['asc', 'desc']));
      return order.offset(from.below(10)).limit(1 + from.below(15));
    };
    let wanted = query();
    const shown = live(wanted);
    shown.subscribe(() => {});
    for (let step = 0; step < 30; step++) {
      const id = `i${from.below(60)}`;
      const what = from.pick(['put', 'delete', 'many', 'change']);
      begin({ what, id });
      if (what === 'put') await db.issues.put({ id, title: `S${step}`, modified: from.below(60) });
      if (what === 'delete') await remote.issues.delete(id);
      if (what === 'many')
        await remote.issues.putMany(
          Array.from({ length: 5 }, (_, n) => ({ id: `m${n}`, title: `${step}`, modified: n })),
        );
      if (what === 'change') {
        wanted = query();
        shown.change(wanted);
      }
      if (from.next() < 0.5) continue;
      const rows = await wanted.toArray();
      await until(() => {
        const now = shown.get();
        return !now.isStale && JSON.stringify(now.rows) === JSON.stringify(rows);
      }, 'the state of the store');
    }
    await closeAll();
  });
});
