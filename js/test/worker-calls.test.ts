/** Calls of a store in a worker: what crosses, in parts and with backpressure, and what is refused. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { memory, open } from '../src/index.js';
import { table } from '../src/tables/index.js';
import { serve } from '../src/worker/host.js';
import { connect, HedgerowError } from '../src/worker/index.js';
import { PART, PART_BYTES, PART_MEMBERS, PARTS_AHEAD, PULL } from '../src/worker/protocol.js';
import { closeAll, opened, relay } from './worker-wire.js';
import { until, world } from './worker-world.js';

afterEach(closeAll);

interface Issue {
  id: string;
  title: string;
  status: string;
}
const issues = table<Issue>()({ key: 'id', indexes: { byState: ['status'] } });
const events = table<{ id: string; at: Date; tags: Set<string>; size: bigint }>()({
  key: 'id',
  values: 'structured',
});
const tables = { issues, events };

const entries = (count: number): [string, unknown][] =>
  Array.from({ length: count }, (_, n) => [
    `k${String(n).padStart(6, '0')}`,
    { n, text: 'x'.repeat(80) },
  ]);

/** A connection whose messages can be seen. */
async function seen() {
  const { page, host, sent, ...more } = relay();
  const db = await open('seen', { storage: memory(), tables });
  const served = serve({ open: async () => db, port: host });
  opened.push(() => served.close());
  const remote = await connect<typeof tables>(page);
  opened.push(() => remote.close());
  const parts = () => sent.filter(([tag]) => tag === PART);
  return { db, remote, sent, parts, ...more };
}

describe('rows', () => {
  it('come in parts that are read at once', async () => {
    const { remote, parts } = await seen();
    await remote.putMany(entries(10_000));
    expect(await remote.scan().toArray()).toEqual(entries(10_000));
    expect(parts().length).toBeGreaterThan(10);
    for (const [, , members] of parts()) {
      // Of JSON it is text.
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
    // Whatever the worker could read meanwhile: it waits.
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

  it('keep what JSON does not', async () => {
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
    expect(one).toMatchObject({ reason: { code: 'invalid-value' } });
    expect(two).toMatchObject({ reason: { code: 'invalid-value' } });
    expect(three?.status).toBe('fulfilled');
    const rows = Array.from({ length: 1000 }, (_, n) => ({ id: `i${n}`, title: '', status: 'a' }));
    await expect(remote.issues.putMany([...rows, odd, ...rows])).rejects.toMatchObject({
      code: 'invalid-value',
      row: 1000,
    });
    expect(await remote.issues.count()).toBe(0);
    await expect(remote.put('c', 1n)).rejects.toMatchObject({ code: 'invalid-value' });
    await expect(remote.put(5 as never, 1)).rejects.toBeInstanceOf(HedgerowError);
  });
});

describe('a load', () => {
  const rows = Array.from({ length: 5000 }, (_, n) => ({
    id: `i${n}`,
    title: 't'.repeat(50),
    status: n % 2 ? 'open' : 'closed',
  }));
  const lines = rows.map((row) => `${JSON.stringify(row)}\n`).join('');

  it('of objects, iterables, bytes, responses, streams and blobs is one commit', async () => {
    const { remote, db } = await seen();
    const bytes = new TextEncoder().encode(lines);
    async function* slowly() {
      for (const row of rows) yield row;
    }
    const stream = () => new Response(lines).body as ReadableStream<Uint8Array>;
    const sources = [
      () => rows,
      () => new Set(rows),
      slowly,
      () => bytes,
      () => bytes.buffer as ArrayBuffer,
      () => new Response(lines),
      () => new Blob([lines]),
      stream,
      () => new Response(JSON.stringify(rows)),
      () => rows.values(),
    ];
    const roots = new Set<string>();
    for (const source of sources) {
      await remote.issues.clear();
      const told: number[] = [];
      const onProgress = ({ fraction = 0 }) => void told.push(fraction);
      const result = await remote.issues.putMany(source() as never, { onProgress });
      expect(result.rows).toBe(5000);
      roots.add(db.root);
      for (const fraction of told) expect(fraction).toBeLessThanOrEqual(1);
    }
    expect(roots.size).toBe(1);
    // The bytes of the caller are still there.
    expect(bytes.length).toBe(lines.length);
  });

  it('asks for no more than the worker takes', async () => {
    const { remote, sent } = await seen();
    let given = 0;
    function* counted() {
      for (const row of entries(20_000)) {
        given += 1;
        yield row;
      }
    }
    const most = () => (sent.filter(([tag]) => tag === PULL).length + 1) * PART_MEMBERS;
    let isBounded = true;
    await remote.putMany(
      (function* () {
        for (const row of counted()) {
          if (given > most()) isBounded = false;
          yield row;
        }
      })(),
    );
    expect(isBounded).toBe(true);
    expect(given).toBe(20_000);
  });

  it('rejects with what its source throws, as it is, and ends a source that it leaves', async () => {
    const { remote } = await seen();
    const thrown = new Error('mine');
    await expect(
      remote.putMany(
        (function* () {
          yield ['a', 1] as const;
          throw thrown;
        })(),
      ),
    ).rejects.toBe(thrown);
    let isEnded = false;
    const call = remote.putMany(
      (function* () {
        try {
          for (;;) yield ['\ud800', 1] as const;
        } finally {
          isEnded = true;
        }
      })(),
    );
    await expect(call).rejects.toMatchObject({ code: 'invalid-key' });
    await until(() => isEnded);
    const bad = new Response('', { status: 404 });
    await expect(remote.putMany(bad)).rejects.toMatchObject({ code: 'bad-response', status: 404 });
    await expect(remote.putMany(5 as never)).rejects.toMatchObject({ code: 'invalid-argument' });
    expect(await remote.count()).toBe(0);
  });

  it('takes a function for keys, which runs in the page', async () => {
    const { remote } = await seen();
    await remote.putMany(rows.slice(0, 3), { key: (row) => row.id.toUpperCase(), prefix: 'p/' });
    expect(await remote.scan().keys().toArray()).toEqual(['p/I0', 'p/I1', 'p/I2']);
    await remote.putMany(rows, { key: '/id', prefix: 'q/' });
    expect(await remote.count({ prefix: 'q/' })).toBe(5000);
  });

  it('ends with its signal', async () => {
    const { remote } = await seen();
    const ending = new AbortController();
    async function* endless() {
      for (let n = 0; ; n++) {
        if (n === 5000) ending.abort('enough');
        yield [`k${n}`, n] as const;
      }
    }
    const call = remote.putMany(endless(), { signal: ending.signal });
    await expect(call).rejects.toMatchObject({ name: 'AbortError', cause: 'enough' });
    await expect(remote.count({ signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'aborted',
    });
    expect(await remote.count()).toBe(0);
  });

  it('of a patch may have operations of tables', async () => {
    const { remote } = await seen();
    await remote.applyPatch([
      remote.issues.op.put({ id: 'a', title: 'A', status: 'open' }),
      { op: 'put', key: 'plain', value: 1 },
    ]);
    await remote.applyPatch(
      (function* () {
        yield remote.issues.op.del('a');
        for (const row of rows) yield remote.issues.op.put(row);
      })(),
    );
    expect(await remote.issues.count()).toBe(5000);
    expect(await remote.issues.get('a')).toBeUndefined();
    expect(await remote.get('plain')).toBe(1);
  });
});

describe('a transaction', () => {
  it('runs in the page, and again after a conflict', async () => {
    const { remote, db } = await seen();
    await db.put('n', 1);
    let runs = 0;
    const result = await remote.transaction(async (tx) => {
      runs += 1;
      const n = (await tx.get<number>('n')) as number;
      if (runs === 1) await db.put('n', 10);
      tx.put('n', n + 1);
      return n;
    });
    expect([result, runs, await db.get('n')]).toEqual([10, 2, 11]);
  });

  it('rejects with what it throws, or with what an edit refuses', async () => {
    const { remote } = await seen();
    const thrown = new Error('mine');
    await expect(
      remote.transaction(() => {
        throw thrown;
      }),
    ).rejects.toBe(thrown);
    const refused = remote.transaction((tx) => {
      tx.put('a', 1);
      tx.put('\ud800', 1);
      tx.issues.put({ id: 'b', title: '', status: '' });
    });
    await expect(refused).rejects.toMatchObject({ code: 'invalid-key' });
    expect(await remote.count()).toBe(0);
    let late: { get(key: string): Promise<unknown> } | undefined;
    await remote.transaction((tx) => {
      late = tx;
    });
    await expect(late?.get('a')).rejects.toMatchObject({ code: 'closed' });
  });

  it('changes rows by functions, and can be taken back', async () => {
    const { remote } = await seen();
    await remote.issues.put({ id: 'a', title: 'A', status: 'open' });
    const update = (one: Issue) => ({ id: one.id, title: `${one.title}!`, status: 'done' });
    expect(await remote.issues.update('a', update)).toEqual({
      id: 'a',
      title: 'A!',
      status: 'done',
    });
    expect(await remote.issues.update('none', update)).toBeUndefined();
    await expect(remote.issues.update('a', (one) => ({ ...one, id: 'b' }))).rejects.toMatchObject({
      code: 'invalid-value',
    });
    const { before, after, value, release } = await remote.commit(
      async (tx) => {
        await tx.issues.update('a', (one) => ({ ...one, title: 'in it' }));
        return (await tx.issues.get('a'))?.title;
      },
      { keep: true },
    );
    expect(value).toBe('in it');
    await remote.revert(before, after);
    release();
    expect((await remote.issues.get('a'))?.title).toBe('A!');
  });
});

describe('functions whose results are needed', () => {
  it.each<[string, (db: Awaited<ReturnType<typeof seen>>['remote']) => unknown]>([
    [
      'filter',
      (db) => (db.issues.all() as unknown as { filter(test: unknown): void }).filter(() => 1),
    ],
    ['onConflict', (db) => db.merge('x', { onConflict: () => 1 } as never)],
    ['sum', (db) => db.sumTree('s').putMany([], { sum: () => 1n } as never)],
    ['where', (db) => db.issues.where((() => 1) as never)],
  ])('%s is refused, with a remedy', async (name, call) => {
    const { remote } = await seen();
    const refusal = await (async () => call(remote))().catch((error: HedgerowError) => error);
    if (!(refusal instanceof HedgerowError)) throw new Error('it was not refused');
    expect(refusal).toMatchObject({ code: 'invalid-argument' });
    expect(refusal.message).toContain(name);
    expect(refusal.message).toContain('transaction');
  });
});

describe('a watch', () => {
  it('waits until its callback has settled, and gets all changes', async () => {
    const { remote, db } = await seen();
    const told: unknown[][] = [];
    let go = () => {};
    const stop = remote.watch({ prefix: '' }, (changes, { root }) => {
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

  it('tells errors, and ends with its signal', async () => {
    const { remote } = await seen();
    const onError = vi.fn();
    remote.watch({ index: 'none' }, () => {}, { onError });
    await until(() => onError.mock.calls.length === 1);
    expect(onError.mock.calls[0]?.[0]).toMatchObject({ code: 'invalid-argument' });
    const ending = new AbortController();
    const counts: number[] = [];
    remote.watchCount({ prefix: '' }, (count) => void counts.push(count), {
      signal: ending.signal,
    });
    await until(() => counts.length === 1);
    await remote.put('a', 1);
    await until(() => counts.length === 2);
    ending.abort();
    await remote.put('b', 1);
    await remote.count();
    expect(counts).toEqual([0, 1]);
  });
});

describe('handles', () => {
  it('of snapshots, branches and exports are the same as in a page', async () => {
    const { remote } = await seen();
    await remote.putMany(entries(100));
    const root = await remote.root;
    {
      using snapshot = remote.snapshot();
      await remote.put('k000001', 'changed');
      expect(await snapshot.get('k000001')).toEqual(entries(2)[1]?.[1]);
      expect(await snapshot.root).toBe(root);
      await remote.resetTo(snapshot);
    }
    expect(await remote.root).toBe(root);
    await using draft = await remote.branch('draft');
    expect([await draft.branchName, await remote.branchName]).toEqual(['draft', 'main']);
    await draft.put('new', 1);
    expect((await remote.previewMerge(draft)).changed).toBe(1);
    expect((await remote.merge(draft)).applied).toBe(1);
    const copy = await remote.export();
    const bytes = await new Response(copy.stream()).arrayBuffer();
    expect(bytes.byteLength).toBe(copy.bytes);
    expect(await remote.health()).toMatchObject({ state: 'ephemeral' });
    expect(await remote.verify()).toMatchObject({ ok: true });
    const sums = remote.sumTree('total');
    await sums.put('a', { value: Uint8Array.of(1), sum: 5n });
    expect((await sums.root).sum).toBe(5n);
  });

  it('are told errors with their facts', async () => {
    const { remote } = await seen();
    await remote.issues.put({ id: 'a', title: 'A', status: 'open' });
    const refusal = await remote.issues
      .insert({ id: 'a', title: 'B', status: 'open' })
      .catch((error) => error);
    expect(refusal).toBeInstanceOf(HedgerowError);
    expect(refusal).toMatchObject({ code: 'exists', table: 'issues', key: 'a', retryable: false });
    await expect(remote.branch('x', { from: '0'.repeat(63) })).rejects.toBeInstanceOf(
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
