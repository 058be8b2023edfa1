/**
 * Remotes that lie: each lie is a typed error of the pull, and changes neither the rows of the device nor the commits
 * of others. A liar who knows the formats is a device with changed tools: its heads name its own objects by right
 * hashes.
 */
import { deflateRawSync } from 'node:zlib';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { serveRemote } from '../../../../server/src/serve-remote.js';
import { hex } from '../../../src/base/hex.js';
import { UnfinishedChanges } from '../../../src/engine/read/unfinished-changes.js';
import { memory, open, type Store } from '../../../src/index.js';
import { bucket } from '../../../src/sync/link/bucket.js';
import type { BucketConnection } from '../../../src/sync/link/bucket-connection.js';
import type { SyncTools } from '../../../src/sync/link/link-context.js';
import { createBucketConnection } from '../../../src/sync/link/open-bucket-connection.js';
import { deflate } from '../../../src/sync/remote/format/deflate.js';
import { httpRemote, memoryRemote, type Remote } from '../../../src/sync/remote/index.js';
import { kindOf } from '../../support/error-kind.js';
import { failure } from '../../support/models/store-model.js';
import { isDeep, sampled } from '../../support/property.js';
import { random } from '../../support/random.js';
import { headOf } from '../../support/remote-store.js';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const end of ends.splice(0).reverse()) await end();
});

const rows = (count: number, note: string, bytes = 30): [string, unknown][] => {
  const from = random(count);
  return Array.from({ length: count }, (_, nth) => [
    `k${String(nth).padStart(6, '0')}`,
    { note, text: hex(from.bytes(bytes)) },
  ]);
};

async function device(remote: Remote) {
  const db = await open('app', { storage: memory() });
  ends.push(() => db.close());
  return { db, link: await db.connect(bucket(remote, { probe: false })) };
}

/** A device that lies. */
async function liar(
  remote: Remote,
  tools: Partial<SyncTools>,
): Promise<{ db: Store; link: BucketConnection }> {
  const db = await open('liar', { storage: memory() });
  ends.push(() => db.close());
  const host = {
    shared: headOf(db).shared,
    branchName: 'main',
    durability: 'relaxed',
    changes: new UnfinishedChanges(),
    check: () => {},
    settle: () => {},
  } as const;
  return { db, link: await createBucketConnection(host, remote, { probe: false }, tools) };
}

/** Expects that a pull refuses the remote; the device keeps its rows, and works with a sound remote. */
async function refuses(remote: Remote, codes: readonly string[]): Promise<void> {
  const { db, link } = await device(remote);
  await db.putMany(rows(20, 'own'));
  const { root } = db;
  for (let tries = 0; tries < 2; tries++) {
    const error = await link.pull().then(
      () => undefined,
      (cause) => cause,
    );
    expect(error, String(error)).toMatchObject({ name: 'HedgerowError' });
    expect(codes).toContain(kindOf(error));
    expect(db.root).toBe(root);
  }
  expect(await db.health.verify()).toMatchObject({ ok: true, rows: 20 });
  await link.close();
  const sound = await db.connect(bucket(memoryRemote(), { name: 'sound', probe: false }));
  expect(await sound.push()).toMatchObject({ isPushed: true });
}

/** The places of deltas: in the head, in separate objects, in packs. */
const PLACES: [string, number, number][] = [
  ['a head', 3, 30],
  ['an object', 400, 30],
  isDeep ? ['packs', 60_000, 30] : ['packs', 1300, 900],
];

const lies: readonly (readonly [string, (delta: Uint8Array) => Uint8Array])[] = [
  ['noise', (delta) => random(7).bytes(delta.length)],
  ['zeros', (delta) => new Uint8Array(delta.length)],
  ['a flipped byte', (delta) => delta.with(delta.length >> 1, ~(delta[delta.length >> 1] ?? 0))],
  ['a flipped first byte', (delta) => delta.with(0, ~(delta[0] ?? 0))],
  ['its first half, and zeros', (delta) => delta.slice().fill(0, delta.length >> 1)],
];

describe.each(PLACES)('hostile deltas in %s', (place, count, length) => {
  const theirs = rows(count, 'theirs', length);
  /** Packs have a sample of the lies: the head and objects have them all. */
  const some = <T>(all: readonly T[]) => (place === 'packs' ? sampled(all, 2) : all);
  const lying = async (change: (delta: Uint8Array) => Promise<Uint8Array>): Promise<Remote> => {
    const remote = memoryRemote();
    // Some edits come first, so that the lie may take them back.
    const honest = await device(remote);
    await honest.db.put('first', 1);
    await honest.link.push();
    const { db, link } = await liar(remote, { deflate: change });
    await link.pull();
    await db.putMany(theirs);
    await link.push();
    return remote;
  };

  it.each(some(lies))('with %s are refused', async (_name, lie) => {
    const remote = await lying((delta) => deflate(lie(delta)));
    await refuses(remote, ['invalid-data/delta', 'remote/data']);
  });

  it.each(
    some<readonly [string, (delta: Uint8Array) => Uint8Array]>([
      ['more than they say', (delta: Uint8Array) => new Uint8Array([...delta, 1])],
      ['less than they say', (delta: Uint8Array) => delta.slice(0, -1)],
      ['nothing', () => new Uint8Array()],
      ['a bomb of 256 MiB', () => new Uint8Array(256 << 20)],
    ]),
  )('that inflate to %s are refused', async (_name, lie) => {
    const remote = await lying(async (delta) => new Uint8Array(deflateRawSync(lie(delta))));
    const before = process.memoryUsage().arrayBuffers;
    await refuses(remote, ['remote/data', 'invalid-data/delta']);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(128 << 20);
  });

  it('that are not deflated are refused', async () => {
    await refuses(await lying(async (delta) => random(3).bytes(delta.length)), ['remote/data']);
  });

  it('with other rows than the head says are refused', async () => {
    // Well-formed: a letter of a value is changed.
    const remote = await lying(async (delta) => {
      const changed = delta.slice();
      const at = Buffer.from(changed).indexOf('theirs');
      if (at >= 0) changed[at] = 'T'.charCodeAt(0);
      return deflate(changed);
    });
    await refuses(remote, ['remote/data', 'invalid-data/delta']);
  });
});

describe('packs', () => {
  const inner = memoryRemote();
  let names: string[] = [];
  beforeAll(async () => {
    const db = await open('from', { storage: memory() });
    await db.putMany(isDeep ? rows(80_000, 'theirs') : rows(3800, 'theirs', 900));
    await (await db.connect(bucket(inner, { probe: false }))).push();
    names = (await inner.list('p/')).map(({ name }) => name);
    await db.close();
  });
  type Get = (name: string) => Promise<Uint8Array | undefined>;
  it.each<readonly [string, (get: Get, names: string[]) => Get]>([
    [
      'that are swapped',
      (get, [a = '', b = '']) =>
        (name) =>
          get(name === a ? b : a),
    ],
    [
      'that are the same one',
      (get, [a = '']) =>
        () =>
          get(a),
    ],
    ['that are cut', (get) => async (name) => (await get(name))?.subarray(0, -1)],
    ['that have no bytes', () => async () => new Uint8Array()],
    ['that are longer', (get) => async (name) => new Uint8Array([...((await get(name)) ?? []), 0])],
    [
      'that have a flipped bit',
      (get) => async (name) => {
        const bytes = (await get(name)) as Uint8Array;
        return bytes.with(bytes.length - 9, (bytes[bytes.length - 9] ?? 0) ^ 4);
      },
    ],
    ['that are gone', () => async () => undefined],
  ])('%s are refused', async (_, lie) => {
    expect(names.length).toBeGreaterThan(1);
    const get = lie((name) => inner.get(name), names);
    await refuses({ ...inner, get }, ['remote/data']);
  });
});

describe('heads', () => {
  const history = async () => {
    const inner = memoryRemote();
    const { db, link } = await device(inner);
    const heads = [];
    for (let nth = 0; nth < 4; nth++) {
      await db.put('n', nth);
      await link.push();
      heads.push(await inner.readHead('main'));
    }
    return { inner, heads };
  };

  it('that go back are refused, in this session and the next, and rows stay', async () => {
    const { inner, heads } = await history();
    const { db, link } = await device(inner);
    await link.pull();
    await db.put('own', 1);
    const { root } = db;
    for (const old of heads.slice(0, 3)) {
      const back: Remote = {
        ...inner,
        readHead: async () => old,
        readHeadSince: async () => old,
      };
      const stale = await db.connect(bucket(back, { probe: false }));
      await expect(stale.pull()).rejects.toEqual(failure('rollback'));
      await expect(stale.push()).rejects.toEqual(failure('rollback'));
      expect(db.root).toBe(root);
    }
    await link.push();
    expect((await inner.readHead('main'))?.token).not.toBe(heads[3]?.token);
  });

  it('with a lie in the last step take no row back, though the previous head is shown again', async () => {
    const inner = memoryRemote();
    const honest = await device(inner);
    await honest.db.putMany(isDeep ? rows(60_000, 'theirs') : rows(1300, 'theirs', 900));
    await honest.link.push();
    // After the checkpoint, to which the way back leads.
    await honest.db.put('late', 1);
    await honest.link.push();
    const { db, link } = await device(inner);
    await link.pull();
    const { root } = db;
    const before = await inner.readHead('main');
    // Well-formed: a letter of the value is changed.
    const lying = await liar(inner, {
      deflate: (delta) => deflate(delta.with(Buffer.from(delta).indexOf('true story'), 0x54)),
    });
    await lying.link.pull();
    await lying.db.put('lie', 'true story');
    await lying.link.push();
    for (let tries = 0; tries < 2; tries++) {
      await expect(link.pull()).rejects.toEqual(failure('remote/data'));
      expect(db.root).toBe(root);
    }
    const again = async () => before;
    const back = await db.connect(bucket({ ...inner, readHead: again, readHeadSince: again }));
    await back.pull();
    expect(db.root).toBe(root);
    expect(await db.get('late')).toBe(1);
  });

  it('with any wrong byte are refused', async () => {
    const { inner } = await history();
    const head = (await inner.readHead('main'))?.bytes as Uint8Array;
    for (let at = 0; at < head.length; at += 1 + (head.length >> 6)) {
      const bytes = head.with(at, (head[at] ?? 0) ^ 0x10);
      const changed = async () => ({ bytes, token: '"x"', modifiedMs: undefined });
      const { db, link } = await device({ ...inner, readHead: changed, readHeadSince: changed });
      await db.put('own', 1);
      const { root } = db;
      const error = await link.pull().catch((cause) => cause);
      expect(['remote/data', 'newer-version/format', 'rollback']).toContain(kindOf(error));
      expect(db.root).toBe(root);
    }
  });

  it('that are cut, empty or too long are refused', async () => {
    const { inner } = await history();
    const head = (await inner.readHead('main'))?.bytes as Uint8Array;
    for (const bytes of [head.slice(0, -1), new Uint8Array(), Buffer.concat([head, head])]) {
      const changed = async () => ({ bytes, token: '"x"', modifiedMs: undefined });
      await refuses({ ...inner, readHead: changed, readHeadSince: changed }, ['remote/data']);
    }
  });
});

describe('wrong settings of CORS', () => {
  /** A page of another origin sees only these headers. */
  const blind = (seen: readonly string[]) => async (url: string, init: RequestInit) => {
    const response = await fetch(url, init);
    const headers = new Headers();
    for (const name of ['content-type', 'content-length', 'last-modified', ...seen]) {
      const value = response.headers.get(name);
      if (value !== null) headers.set(name, value);
    }
    const body = [204, 304].includes(response.status) ? null : response.body;
    return new Response(body, { status: response.status, headers });
  };

  it('let a store pull, and not push, without ExposeHeaders', async () => {
    const inner = memoryRemote();
    const honest = await device(inner);
    await honest.db.put('there', 1);
    await honest.link.push();
    const server = await serveRemote(inner);
    ends.push(() => server.close());
    const db = await open('app', { storage: memory() });
    ends.push(() => db.close());
    const remote = httpRemote({ url: server.url, fetch: blind([]) });
    for (const probe of [true, false]) {
      const link = await db.connect(bucket(remote, { probe, name: `probe-${probe}` }));
      expect(await link.pull()).toMatchObject({ seq: 2 });
      await db.put('own', probe);
      const [before, { root }] = [(await inner.readHead('main'))?.token, db];
      await expect(link.push()).rejects.toEqual(failure('remote/unsafe'));
      expect([(await inner.readHead('main'))?.token, db.root]).toEqual([before, root]);
    }
    const seeing = httpRemote({ url: server.url, fetch: blind(['etag']) });
    const link = await db.connect(bucket(seeing, { name: 'seeing' }));
    expect(await link.push()).toMatchObject({ isPushed: true });
  });

  it('make it offline without the origin', async () => {
    const fetch = async () => {
      throw new TypeError('Failed to fetch');
    };
    await refuses(httpRemote({ url: 'http://127.0.0.1/', fetch }), ['offline']);
  });
});

it('wrong clocks do not disturb sync', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const times = [0, 8.64e15, Date.UTC(1970, 0, 1), Date.UTC(2500, 0, 1), -1, Number.NaN];
  const inner = memoryRemote();
  let nth = 0;
  const lying: Remote = {
    ...inner,
    readHead: async (...call) => {
      const head = await inner.readHead(...call);
      return head && { ...head, modifiedMs: times[nth++ % times.length] };
    },
    readHeadSince: async (...call) => {
      const head = await inner.readHeadSince(...call);
      return typeof head === 'object' ? { ...head, modifiedMs: times[nth++ % times.length] } : head;
    },
  };
  const [a, b] = [await device(lying), await device(lying)];
  for (let round = 0; round < 60; round++) {
    const [one, other] = round % 2 ? [a, b] : [b, a];
    vi.setSystemTime(Math.max(-8.64e15, Math.min(8.64e15, times[round % 4] as number)));
    await one.db.put(`k${round}`, round);
    await one.link.push();
    vi.setSystemTime(Date.UTC(2000 + ((round * 37) % 90), 0, 1));
    await other.link.pull();
    expect(await other.db.get(`k${round}`)).toBe(round);
  }
  expect(await a.db.scan().toArray()).toEqual(await b.db.scan().toArray());
  for await (const { key } of a.link.conflicts()) throw new Error(key);
});
