/** Requests of a push stay below the server's limit, in bytes of UTF-8; after 413 a push sends halves. */
import { afterEach, describe, expect, it } from 'vitest';
import { HedgerowError, memory, open, type Store } from '../../../src/index.js';
import { mutators } from '../../../src/sync/mutators/index.js';
import { type RefusedChange, rest } from '../../../src/sync/rest/index.js';
import { json, ServerDouble } from '../../support/doubles/mutators-server.js';
import { RestDouble } from '../../support/doubles/rest-server.js';
import { ofKind } from '../../support/error-kind.js';
import { bind, ours, rowsOf, store, theirs } from '../../support/worlds/mutators-app.js';

const opened: Store[] = [];
afterEach(async () => {
  for (const db of opened.splice(0)) await db.close();
});

const utf8 = (request: unknown) => new TextEncoder().encode(JSON.stringify(request)).length;
const tooLarge = () => new Response('', { status: 413 });

/** A server of rows that takes requests up to a size. */
async function restOf(most: number, options: { maxPushBytes?: number } = {}) {
  const db = await open('sizes', { storage: memory() });
  opened.push(db);
  const server = new RestDouble();
  const sizes: number[] = [];
  const refused: RefusedChange[] = [];
  const link = await db.connect(
    rest({
      pull: (request) => server.pull(request),
      push: (request) => {
        sizes.push(utf8(request));
        return utf8(request) > most ? tooLarge() : server.push(request);
      },
      onRefused: (change) => void refused.push(change),
      ...options,
    }),
  );
  await link.pull();
  return { db, link, server, sizes, refused };
}

describe('a push of rows', () => {
  it('has requests of at most 256 KiB of UTF-8, for any letters', async () => {
    for (const letter of ['a', 'ü', '語', '😀', '"', '\n']) {
      const { db, link, sizes } = await restOf(300 << 10);
      await db.putMany(
        Array.from({ length: 1200 }, (_, n) => [`k${n}`, { n, text: letter.repeat(900) }]),
      );
      expect(await link.push()).toEqual({ accepted: 1200, refused: 0 });
      expect(Math.max(...sizes), letter).toBeLessThan((256 << 10) + 100);
      expect(sizes.length).toBeLessThan(40);
    }
  });

  it('has requests of the size in its options', async () => {
    const { db, link, sizes } = await restOf(1 << 30, { maxPushBytes: 10_000 });
    await db.putMany(Array.from({ length: 300 }, (_, n) => [`k${n}`, 'x'.repeat(100)]));
    await link.push();
    expect(Math.max(...sizes)).toBeLessThan(10_100);
    for (const maxPushBytes of [0, -1, Number.NaN, '5'] as number[]) {
      await expect(restOf(1, { maxPushBytes })).rejects.toMatchObject(ofKind('invalid-argument'));
    }
  });

  it('goes on in halves where the server takes less, and reports a row that is too large alone', async () => {
    const { db, link, server, refused } = await restOf(5_000);
    await db.putMany(Array.from({ length: 300 }, (_, n) => [`k${n}`, 'x'.repeat(100)]));
    await db.put('k150+', 'y'.repeat(6_000));
    expect(await link.push()).toEqual({ accepted: 300, refused: 1 });
    expect(Object.keys(server.rows)).toHaveLength(300);
    expect(refused).toMatchObject([{ key: 'k150+', why: { status: 413 } }]);
    expect(refused[0]?.why).toBeInstanceOf(HedgerowError);
    expect(await link.isPending()).toBe(false);
    // As with any refused change: the row is the server's again, and the log has the local value.
    expect(await db.get('k150+')).toBeUndefined();
    const logged = [];
    for await (const one of link.conflicts()) logged.push(one);
    expect(logged).toMatchObject([{ key: 'k150+', ours: 'y'.repeat(6_000) }]);
  });
});

describe('a push of calls', () => {
  const openIssues = async (most: number, options: { maxPushBytes?: number } = {}) => {
    const db = await store();
    const server = new ServerDouble(theirs);
    const sizes: number[] = [];
    const app = await bind(db, server, {
      push: (request) => {
        sizes.push(utf8(request));
        return utf8(request) > most ? tooLarge() : json(server.push(request));
      },
      ...options,
    });
    return { db, app, server, sizes };
  };

  it('has requests of at most 256 KiB of UTF-8', async () => {
    const { app, sizes } = await openIssues(300 << 10);
    const title = '語'.repeat(900);
    await Promise.all(
      Array.from({ length: 700 }, (_, n) => app.mutate.openIssue({ id: `${n}`, title })),
    );
    await app.push();
    expect(Math.max(...sizes)).toBeLessThan((256 << 10) + 1_000);
    await app.pull();
    expect(app.calls()).toEqual([]);
  });

  it('goes on in halves, and reports a call that is too large alone', async () => {
    const { db, app } = await openIssues(5_000);
    const ids = Array.from({ length: 60 }, (_, n) => `${n}`);
    for (const id of ids) {
      const title = (id === '30' ? 'y' : 'x').repeat(id === '30' ? 6_000 : 100);
      void app.mutate.openIssue({ id, title });
    }
    await app.mutate.add(1);
    await app.push();
    expect(app.state.rejected).toMatchObject([
      { name: 'openIssue', args: { id: '30' }, error: { status: 413 } },
    ]);
    await app.pull();
    expect(app.calls()).toEqual([]);
    const rows = await rowsOf(db);
    expect(Object.keys(rows)).toHaveLength(60);
    expect(rows['issue/30']).toBeUndefined();
    expect(rows.count).toBe(1);
  });
});

it('mutators check the same size options as rest', async () => {
  const db = await store();
  const endpoint = () => new Response();
  const bad = db.connect(
    mutators({ mutators: ours, pull: endpoint, push: endpoint, maxPushBytes: 0 }),
  );
  await expect(bad).rejects.toMatchObject(ofKind('invalid-argument'));
});
