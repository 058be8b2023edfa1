/** A trace reports on a store, and the store works as before. */
import { afterEach, describe, expect, it } from 'vitest';
import { memory, open, rowType, type Store, table } from '../../hedgerow/src/index.js';
import { live } from '../../hedgerow/src/live/index.js';
import { bucket } from '../../hedgerow/src/sync/link/bucket.js';
import { memoryRemote } from '../../hedgerow/src/sync/remote/adapters/memory-remote.js';
import { failure } from '../../hedgerow/test/support/models/store-model.js';
import {
  TRACED,
  type TracedStore,
  type TracingWindow,
} from '../src/trace/cross-window-trace-types.js';
import { trace } from '../src/trace.js';

const traces = () => [...((globalThis as TracingWindow)[TRACED] ?? [])];
const only = () => traces()[0] as TracedStore;
const named = (kind: string) =>
  only()
    .bars.filter((bar) => bar.kind === kind)
    .map(({ name }) => name);

/** Entries of `performance.measure`, as tools see them. */
function observed() {
  const entries: PerformanceEntry[] = [];
  const observer = new PerformanceObserver((list) => entries.push(...list.getEntries()));
  observer.observe({ type: 'measure' });
  return {
    /** Resolves once there are entries of all of these names. */
    async take(
      ...names: string[]
    ): Promise<(PerformanceEntry & { detail: { devtools: Record<string, unknown> } })[]> {
      const seen = () => entries.map(({ name }) => name.replace('hedgerow: ', ''));
      await expect.poll(seen).toEqual(expect.arrayContaining(names));
      observer.disconnect();
      return entries as never;
    },
  };
}

const rowsOf = (count: number) =>
  Array.from({ length: count }, (_, n) => [`row/${String(n).padStart(6, '0')}`, { n }] as const);

const opened: Store[] = [];
async function traced(name = 'traced', options: object = {}) {
  const db = await open(name, { storage: memory(), ...options });
  opened.push(db);
  return { db, trace: trace(db, { minMs: 0 }) };
}

afterEach(async () => {
  for (const db of opened.splice(0)) await db.close();
  expect(traces(), 'a trace ends with its store').toEqual([]);
});

describe('calls', () => {
  it('are measures of the browser, on tracks of their own, and do not stay in its buffer', async () => {
    const { db } = await traced();
    const tools = observed();
    await db.putMany(rowsOf(1000));
    expect(await db.get('row/000001')).toEqual({ n: 1 });
    expect(await db.insert('row/000001', 0).catch((cause) => cause)).toMatchObject({
      code: 'exists',
    });
    const entries = await tools.take('putMany', 'get', 'insert', 'slice');
    const tracks = entries.map(({ name, detail }) => [name, detail.devtools.track]);
    expect(tracks).toContainEqual(['hedgerow: putMany', 'traced: calls']);
    expect(tracks).toContainEqual(['hedgerow: get', 'traced: calls']);
    expect(tracks).toContainEqual(['hedgerow: slice', 'traced: slices']);
    const insert = entries.find(({ name }) => name === 'hedgerow: insert');
    expect(insert?.detail.devtools).toMatchObject({
      dataType: 'track-entry',
      trackGroup: 'Hedgerow',
      color: 'error',
      properties: [
        ['about', 'row/000001'],
        ['failed', 'exists'],
      ],
    });
    expect(performance.getEntriesByType('measure')).toEqual([]);
    expect(named('call')).toEqual(['putMany', 'get', 'insert']);
  });

  it('of reads last until the last row, or until the loop is left', async () => {
    const { db } = await traced();
    await db.putMany(rowsOf(300));
    expect(await db.scan().keys().toArray()).toHaveLength(300);
    for await (const [key] of db.scan({ prefix: 'row/0001' })) if (key === 'row/000150') break;
    let rows = 0;
    for await (const _ of db.scan({ limit: 7 })) rows += 1;
    expect(rows).toBe(7);
    expect(await db.scan().first()).toEqual(['row/000000', { n: 0 }]);
    expect(named('call')).toEqual(['putMany', 'scan.keys', 'scan', 'scan', 'scan']);
    const [, , left] = only().bars.filter(({ kind }) => kind === 'call');
    expect(left?.durationMs).toBeGreaterThanOrEqual(0);
  });

  it('of tables and branches show as the calls of their handles', async () => {
    const tables = { issues: table({ schema: rowType<{ id: string }>(), key: 'id' }) };
    const { db } = await traced('tables', { tables });
    const issues = (db as unknown as { issues: { put(row: object): Promise<void> } }).issues;
    await issues.put({ id: '1' });
    const draft = await db.branches.open('draft');
    await draft.put('x', 1);
    await draft.close();
    expect(named('call')).toEqual(['put', 'branches.open', 'put', 'close']);
  });

  it('that fail are reported, unless their caller handles the error', async () => {
    /** Counts its listeners. */
    class Heard<T> extends Promise<T> {
      listeners = 0;
      // biome-ignore lint/suspicious/noThenProperty: it counts the listeners
      override then(...args: Parameters<Promise<T>['then']>): never {
        this.listeners += 1;
        return super.then(...args) as never;
      }
    }
    const db = await open('heard', { storage: memory() });
    opened.push(db);
    const put = () => Heard.reject(new Error('no room'));
    db.put = put;
    const running = trace(db, { minMs: 0 });
    const result = db.put('a', 1);
    expect(result).toBeInstanceOf(Heard);
    expect((result as Heard<void>).listeners).toBe(0);
    await expect(result).rejects.toThrow('no room');
    expect(named('call')).toEqual(['put']);
    running.stop();
    expect(db.put).toBe(put);
  });

  it('below the minimum duration are left out', async () => {
    const db = await open('short', { storage: memory() });
    opened.push(db);
    trace(db, { minMs: 1e6 });
    await db.putMany(rowsOf(10));
    expect(only().bars).toEqual([]);
  });
});

describe('slices', () => {
  it('equal the slices that the store counts itself', async () => {
    const { db } = await traced('slices', { advanced: { sliceMs: 2 } });
    const { stats } = await db.putMany(rowsOf(60_000));
    const { slices, longestSliceMs } = stats;
    await new Promise((resolve) => setTimeout(resolve, 5));
    const bars = only().bars.filter(({ kind }) => kind === 'slice');
    const call = only().bars.find(({ name }) => name === 'putMany');
    expect(slices).toBeGreaterThan(5);
    // Copying segments to storage has slices of its own, in which the core does no work.
    expect(bars.length).toBeGreaterThan(slices / 2);
    expect(bars.length).toBeLessThanOrEqual(slices + 1);
    for (const { startMs, durationMs } of bars) {
      expect(durationMs).toBeLessThanOrEqual(longestSliceMs + 1.1);
      expect(startMs).toBeGreaterThanOrEqual(call?.startMs as number);
    }
    const sum = bars.reduce((all, { durationMs }) => all + durationMs, 0);
    expect(sum).toBeLessThanOrEqual(call?.durationMs as number);
    expect(only().count).toBe(only().bars.length);
  });
});

describe('watches and remotes', () => {
  it('are listed with their events, until they end', async () => {
    const { db } = await traced();
    const ended = new AbortController();
    const stop = db.watch({ prefix: 'a/' }, () => {});
    db.watch({ prefix: 'b/' }, () => {}, { signal: ended.signal });
    const list = live(db, { prefix: 'a/', limit: 5 });
    const leave = list.subscribe(() => {});
    await expect.poll(() => list.get().status).toBe('ready');
    await db.put('a/1', 1);
    await db.put('b/1', 1);
    const watches = () => only().watches();
    await expect
      .poll(() => watches().map(({ range, calls, changes }) => [range, calls, changes]))
      .toEqual([
        ['{"prefix":"a/"}', 1, 1],
        ['{"prefix":"b/"}', 1, 1],
        ['{"prefix":"a/"}', 1, 1],
      ]);
    expect(named('callback').length).toBe(3);
    stop();
    ended.abort();
    leave();
    list.close();
    await expect.poll(watches).toEqual([]);
    expect(() => db.watch({}, undefined as never)).toThrow(failure('invalid-argument'));
  });

  it('of a remote show its traffic, and the state of its loop', async () => {
    const { db } = await traced();
    await db.put('a', 1);
    const link = await db.connect(bucket(memoryRemote()));
    await link.push();
    const [before] = only().links();
    expect(before).toMatchObject({ name: 'origin', status: 'stopped' });
    expect(before?.requests).toBe(link.traffic.requests);
    expect(before?.requests).toBeGreaterThan(0);
    link.start();
    await expect.poll(() => only().links()[0]?.status === link.state.status).toBe(true);
    await link.close();
    expect(only().links()).toEqual([]);
    expect(named('call')).toEqual(['put', 'connect', 'origin.push', 'origin.close']);
  });
});

describe('a trace', () => {
  it('is stopped without a trace', async () => {
    const { db, trace: running } = await traced();
    const calls: unknown[] = [];
    db.watch({}, (changes) => calls.push(...changes));
    await db.put('a', 1);
    await expect.poll(() => calls.length).toBe(1);
    const { bars } = only();
    running.stop();
    // Its end reports the slice that was under way.
    const before = bars.length;
    running.stop();
    expect(traces()).toEqual([]);
    expect(
      Object.keys(db)
        .concat(Object.getOwnPropertyNames(db))
        .filter((name) => name === 'put'),
    ).toEqual([]);
    await db.put('b', 1);
    await expect.poll(() => calls.length).toBe(2);
    expect(bars.length).toBe(before);
  });

  it('is one for all handles of a store', async () => {
    const { db } = await traced();
    trace(db);
    const draft = await db.branches.open('draft');
    trace(draft);
    expect(traces()).toHaveLength(1);
    await draft.close();
    expect(traces()).toHaveLength(1);
  });

  it('refuses a target without traces', async () => {
    const { db } = await traced();
    for (const wrong of [undefined, {}, db.snapshot(), { from: {} }]) {
      expect(() => trace(wrong as never)).toThrow(failure('invalid-argument'));
    }
    for (const minMs of [-1, Number.NaN, '1']) {
      expect(() => trace(db, { minMs: minMs as never })).toThrow(failure('invalid-argument'));
    }
  });
});
