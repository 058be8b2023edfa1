/** Loads of a store in a worker: the page reads the sources, as fast as the worker takes the rows. */
import { afterEach, describe, expect, it } from 'vitest';
import { ArgumentSource } from '../../src/worker/page/source-sender.js';
import { OK, PART_MEMBERS, PULL, TELL } from '../../src/worker/protocol.js';
import { closeAll } from '../support/doubles/worker-wire.js';
import { ofKind } from '../support/error-kind.js';
import { entries, seen } from '../support/worlds/worker-seen.js';
import { until } from '../support/worlds/worker-world.js';

afterEach(closeAll);

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

  it('rejects with the exception of its source, as it is, and ends a source that it leaves', async () => {
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
    await expect(call).rejects.toMatchObject({ code: 'invalid-argument', detail: 'key' });
    await until(() => isEnded);
    const bad = new Response('', { status: 404 });
    await expect(remote.putMany(bad)).rejects.toMatchObject({
      code: 'remote',
      detail: 'response',
      status: 404,
    });
    await expect(remote.putMany(5 as never)).rejects.toMatchObject(ofKind('invalid-argument'));
    expect(await remote.count()).toBe(0);
  });

  it('reports its progress at its end, to a page that was busy, too', async () => {
    const { remote, sent, freeze, thaw } = await seen();
    const told: number[] = [];
    const onProgress = ({ fraction = 0 }) => void told.push(fraction);
    // The worker has all of a Blob, and needs no more from the page.
    const load = remote.issues.putMany(new Blob([lines.repeat(20)]), { onProgress });
    await until(() => sent.some(([tag]) => tag === TELL));
    freeze();
    await until(() => sent.some(([tag]) => tag === OK));
    expect(told.at(-1)).not.toBe(1);
    thaw();
    await load;
    expect(told.at(-1)).toBe(1);
  });

  it('sends only the bytes of views, and not their buffers', async () => {
    const buffer = new Uint8Array(1 << 20);
    const source = new ArgumentSource([['a', buffer.subarray(8, 16)]]);
    const [, bytes] = source.prepareMember(['a', buffer.subarray(8, 16)]) as [string, Uint8Array];
    expect([bytes.length, bytes.buffer.byteLength]).toEqual([8, 8]);
    const { remote } = await seen();
    await remote.putMany(new Map([['a', buffer.subarray(8, 16)]]));
    expect(await remote.get('a')).toEqual(new Uint8Array(8));
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
        yield remote.issues.op.delete('a');
        for (const row of rows) yield remote.issues.op.put(row);
      })(),
    );
    expect(await remote.issues.count()).toBe(5000);
    expect(await remote.issues.get('a')).toBeUndefined();
    expect(await remote.get('plain')).toBe(1);
  });
});
