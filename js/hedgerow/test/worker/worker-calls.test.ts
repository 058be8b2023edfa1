/** Calls of a store in a worker: their messages, parts and backpressure, and the refused ones. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { HedgerowError } from '../../src/index.js';
import { PART_BYTES, PART_MEMBERS, PARTS_AHEAD } from '../../src/worker/protocol.js';
import { closeAll } from '../support/doubles/worker-wire.js';
import { ofKind } from '../support/error-kind.js';
import { entries, seen } from '../support/worlds/worker-seen.js';
import { until, world } from '../support/worlds/worker-world.js';

afterEach(async () => {
  await closeAll();
  vi.unstubAllGlobals();
});

describe('rows', () => {
  it('come in parts that are read at once', async () => {
    const { remote, parts } = await seen();
    await remote.putMany(entries(10_000));
    expect(await remote.scan().toArray()).toEqual(entries(10_000));
    expect(parts().length).toBeGreaterThan(10);
    for (const [, , members] of parts()) {
      // JSON crosses as text.
      expect(typeof members).toBe('string');
      expect((members as string).length).toBeLessThan(2 * PART_BYTES);
      expect(JSON.parse(members as string).length).toBeLessThanOrEqual(PART_MEMBERS);
    }
    const keys = entries(3000).map(([key]) => key);
    const found = await remote.getMany([...keys, 'none', 'k000001']);
    expect(found).toHaveLength(3002);
    expect(found.slice(-3)).toEqual([entries(3000)[2999]?.[1], undefined, entries(2)[1]?.[1]]);
  });

  it('of an iteration wait until they are taken, and its return stops them', async () => {
    const { db, remote, parts } = await seen();
    await db.putMany(entries(50_000));
    const rows = remote.scan()[Symbol.asyncIterator]();
    expect((await rows.next()).value?.[0]).toBe('k000000');
    await until(() => parts().length > PARTS_AHEAD - 1);
    // The worker reads no further: it waits.
    for (let turn = 0; turn < 50; turn++) await remote.count();
    expect(parts().length).toBeLessThanOrEqual(PARTS_AHEAD + 1);
    let seenRows = 1;
    while (seenRows < 5000) {
      expect((await rows.next()).value?.[0]).toBe(entries(seenRows + 1)[seenRows]?.[0]);
      seenRows += 499;
      for (let skip = 0; skip < 498; skip++) await rows.next();
    }
    await rows.return?.();
    await remote.count();
    const sent = parts().length;
    for (let turn = 0; turn < 50; turn++) await remote.count();
    expect(parts().length).toBe(sent);
    expect(await rows.next()).toEqual({ done: true, value: undefined });
  });

  it('keep values that JSON loses', async () => {
    const { remote } = await seen();
    const bytes = Uint8Array.of(1, 2, 3);
    await remote.put('a', bytes);
    await remote.put('b', { __proto__: null, x: -0, deep: [[null, { y: '\u{2028}"' }]] });
    expect(await remote.get('a')).toEqual(bytes);
    expect(await remote.scan().toArray()).toEqual([
      ['a', bytes],
      ['b', { x: 0, deep: [[null, { y: '\u{2028}"' }]] }],
    ]);
    const event = { id: 'e', at: new Date(5), tags: new Set(['t']), size: 2n ** 70n };
    await remote.events.put(event);
    expect(await remote.events.get('e')).toEqual(event);
    expect(await remote.events.where({ id: 'e' }).toArray()).toEqual([event]);
    for await (const one of remote.events) expect(one).toEqual(event);
  });

  it('that cannot cross are refused with a typed error, and others go on', async () => {
    const { remote } = await seen();
    const odd = { id: 'f', title: 'x', status: (() => 1) as never };
    const calls = [remote.put('f', { f: () => 1 }), remote.issues.put(odd), remote.put('g', 1)];
    const [one, two, three] = await Promise.allSettled(calls);
    expect(one).toMatchObject({ reason: { code: 'invalid-argument', detail: 'value' } });
    expect(two).toMatchObject({ reason: { code: 'invalid-argument', detail: 'value' } });
    expect(three?.status).toBe('fulfilled');
    const rows = Array.from({ length: 1000 }, (_, n) => ({ id: `i${n}`, title: '', status: 'a' }));
    await expect(remote.issues.putMany([...rows, odd, ...rows])).rejects.toMatchObject({
      ...ofKind('invalid-argument/value'),
      row: 1000,
    });
    expect(await remote.issues.count()).toBe(0);
    await expect(remote.get(Symbol('s') as never)).rejects.toMatchObject({
      ...ofKind('invalid-argument/value'),
    });
    await expect(remote.put('c', 1n)).rejects.toMatchObject({
      ...ofKind('invalid-argument/value'),
    });
    await expect(remote.put(5 as never, 1)).rejects.toBeInstanceOf(HedgerowError);
  });
});

describe('arguments', () => {
  it('are read at the call', async () => {
    const { remote } = await seen();
    const row = { id: '', title: 'used again', status: 'open' };
    const bytes = new Uint8Array(1 << 16).subarray(4, 8);
    const puts = ['a', 'b', 'c'].map((id, at) => {
      row.id = id;
      bytes.fill(at);
      return [remote.issues.put(row), remote.put(`bytes/${id}`, bytes)];
    });
    await Promise.all(puts.flat());
    expect(await remote.issues.count()).toBe(3);
    expect(await remote.get('bytes/b')).toEqual(Uint8Array.of(1, 1, 1, 1));
  });

  it('may have members with the names of options', async () => {
    const { remote } = await seen();
    const value = { signal: { aborted: true }, onProgress: 1 };
    await remote.put('a', value);
    expect(await remote.get('a')).toEqual(value);
  });
});

describe('functions whose results are needed', () => {
  it.each<[string, (db: Awaited<ReturnType<typeof seen>>['remote']) => unknown]>([
    [
      'filter',
      (db) => (db.issues.all() as unknown as { filter(test: unknown): void }).filter(() => 1),
    ],
    ['onConflict', (db) => db.branches.merge('x', { onConflict: () => 1 } as never)],
    ['sum', (db) => db.sumTree('s').putMany([], { sum: () => 1n } as never)],
    ['where', (db) => db.issues.where((() => 1) as never)],
  ])('%s is refused, with a remedy', async (name, call) => {
    const { remote } = await seen();
    const refusal = await (async () => call(remote))().catch((error: HedgerowError) => error);
    if (!(refusal instanceof HedgerowError)) throw new Error('it was not refused');
    expect(refusal).toMatchObject(ofKind('invalid-argument'));
    expect(refusal.message).toContain(name);
    expect(refusal.message).toContain('transaction');
  });
});

describe('a watch', () => {
  it('waits until its callback has settled, and gets all changes', async () => {
    const { remote, db } = await seen();
    const told: unknown[][] = [];
    let go = () => {};
    const stop = remote.watch({}, (changes, { root }) => {
      expect(root).toMatch(/^[0-9a-f]{64}$/);
      told.push(changes as unknown[]);
      return new Promise<void>((resolve) => {
        go = resolve;
      });
    });
    await remote.count();
    await db.put('a', 1);
    await until(() => told.length === 1);
    await db.put('b', 1);
    await db.putMany(entries(3000));
    for (let turn = 0; turn < 20; turn++) await remote.count();
    expect(told.length).toBe(1);
    go();
    await until(() => told.length === 2);
    expect(told[1]).toHaveLength(3001);
    stop();
    go();
    await db.put('c', 1);
    await remote.count();
    expect(told.length).toBe(2);
  });

  it('reports errors, and ends with its signal', async () => {
    const { remote } = await seen();
    const onError = vi.fn();
    remote.watch({ index: 'none' }, () => {}, { onError });
    await until(() => onError.mock.calls.length === 1);
    expect(onError.mock.calls[0]?.[0]).toMatchObject(ofKind('invalid-argument'));
    const ending = new AbortController();
    const counts: number[] = [];
    remote.watch({}, (changes) => void counts.push(changes.length), {
      signal: ending.signal,
    });
    await remote.put('a', 1);
    await until(() => counts.length === 1);
    ending.abort();
    await remote.put('b', 1);
    await remote.count();
    expect(counts).toEqual([1]);
  });

  it('whose onError throws breaks no other call', async () => {
    const reportError = vi.fn();
    vi.stubGlobal('reportError', reportError);
    const { remote } = await seen();
    const thrown = new Error('mine');
    const onError = () => {
      throw thrown;
    };
    // Their answers come in one message.
    remote.watch({ index: 'none' }, () => {}, { onError });
    expect(await remote.count()).toBe(0);
    await until(() => reportError.mock.calls.length === 1);
    expect(reportError.mock.calls).toEqual([[thrown]]);
  });
});

describe('handles', () => {
  it('of another connection, or released, name no object', async () => {
    const { page } = world();
    const [one, other] = [await page(), await page()];
    await one.put('a', 1);
    const mine = one.snapshot();
    expect(await mine.get('a')).toBe(1);
    // It has the same number over there.
    await other.put('a', 2);
    const others = other.snapshot();
    expect(await others.get('a')).toBe(2);
    await expect((async () => one.branches.reset(others))()).rejects.toMatchObject({
      ...ofKind('invalid-argument'),
    });
    expect(await one.get('a')).toBe(2);
    mine.close();
    await expect(one.branches.open('draft', { from: mine })).rejects.toMatchObject({
      code: 'closed',
    });
    expect(await one.branches.list()).toHaveLength(1);
  });

  it('are released once, however often the page asks', async () => {
    const { remote } = await seen();
    const draft = await remote.branches.open('draft');
    await Promise.all([draft.close(), draft.close()]);
    await draft.close();
    const snapshot = remote.snapshot();
    snapshot.close();
    snapshot.close();
    await remote.branches.delete('draft');
  });

  it('of snapshots, branches and exports are the same as in a page', async () => {
    const { remote } = await seen();
    await remote.putMany(entries(100));
    const root = await remote.root;
    {
      using snapshot = remote.snapshot();
      await remote.put('k000001', 'changed');
      expect(await snapshot.get('k000001')).toEqual(entries(2)[1]?.[1]);
      expect(await snapshot.root).toBe(root);
      await remote.branches.reset(snapshot);
    }
    expect(await remote.root).toBe(root);
    await using draft = await remote.branches.open('draft');
    expect([await draft.branches.current, await remote.branches.current]).toEqual([
      'draft',
      'main',
    ]);
    await draft.put('new', 1);
    expect((await remote.branches.preview(draft)).changed).toBe(1);
    expect((await remote.branches.merge(draft)).rows).toBe(1);
    const copy = await remote.backup.export();
    const bytes = await new Response(copy.stream()).arrayBuffer();
    expect(bytes.byteLength).toBe(copy.bytes);
    expect(await remote.health.get()).toMatchObject({ state: 'ephemeral' });
    expect(await remote.health.verify()).toMatchObject({ ok: true });
    const sums = remote.sumTree('total');
    await sums.put('a', { value: Uint8Array.of(1), sum: 5n });
    expect((await sums.root).sum).toBe(5n);
  });

  it('receive errors with their facts', async () => {
    const { remote } = await seen();
    await remote.issues.put({ id: 'a', title: 'A', status: 'open' });
    const refusal = await remote.issues
      .insert({ id: 'a', title: 'B', status: 'open' })
      .catch((error) => error);
    expect(refusal).toBeInstanceOf(HedgerowError);
    expect(refusal).toMatchObject({ code: 'exists', table: 'issues', key: 'a', retryable: false });
    await expect(remote.branches.open('x', { from: '0'.repeat(63) })).rejects.toBeInstanceOf(
      HedgerowError,
    );
  });
});

it('a thousand calls at once are few messages', async () => {
  const { page } = world();
  const remote = await page();
  await remote.putMany(entries(1000));
  const found = await Promise.all(entries(1000).map(([key]) => remote.get(key)));
  expect(found).toEqual(entries(1000).map(([, value]) => value));
});
