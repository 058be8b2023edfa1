/** The reader in JavaScript answers each read as the core does: the same rows, and the same errors for damaged bytes. */
import { describe, expect, it } from 'vitest';
import * as ReadFlag from '../../src/base/abi/read-flag.js';
import * as Status from '../../src/base/abi/status.js';
import type { KeyRange } from '../../src/base/range.js';
import { TABLE_ENTRY_BYTES, TABLE_HEADER_BYTES } from '../../src/base/segment-table.js';
import * as reads from '../../src/core/calls/read-calls.js';
import * as segmentCalls from '../../src/core/calls/segment-calls.js';
import { Engine } from '../../src/core/engine.js';
import type { IndexRange } from '../../src/core/indexes/index-range.js';
import { type IndexDefinitions, indexesOf } from '../../src/core/indexes/index-set.js';
import { Host } from '../../src/core/operation-host.js';
import { lengthOf, totalOf } from '../../src/core/reader/node.js';
import { startEngine } from '../../src/core/start-host.js';
import { fail } from '../../src/core/status-errors.js';
import { foundOf } from '../../src/engine/read/key-batches.js';
import { blocks } from '../../src/engine/read/scan.js';
import { memory, open, type Storage } from '../../src/index.js';
import { cutSegment, type SegmentStore, segmentOf } from '../../src/storage/segment-store.js';
import { flipped } from '../support/damaged-bytes.js';
import { kindOf } from '../support/error-kind.js';
import { hashOf, segmentWith } from '../support/forging.js';
import { type BeginStep, forSeeds } from '../support/property.js';
import type { Random } from '../support/random.js';
import { chunkIn, chunksOf } from '../support/stored-chunks.js';

const INDEXES: IndexDefinitions = {
  byNumber: { path: '/n' },
  byTag: { path: ['/tags', '/n'] },
  byText: { path: '/t', nulls: true },
  some: { path: '/t', prefix: 'b' },
};

/** A stored store: its newest commit, and the tables and bytes of its segments. */
interface Stored {
  commitBytes: Uint8Array;
  /** The keys of some rows. */
  keys: string[];
  segments: Map<number, { tableBytes: Uint8Array; segmentBytes: Uint8Array }>;
}

async function storedIn(storage: Storage, name: string): Promise<Stored> {
  const store: SegmentStore = await storage.open(name);
  const { refs, tables } = await store.load();
  const bytes = await store.read(tables.map(({ id }) => id));
  await store.close();
  const segments = tables.map(
    ({ id, tableBytes }, at) =>
      [id, { tableBytes, segmentBytes: bytes[at] as Uint8Array }] as const,
  );
  const commitBytes = refs.find(({ name }) => name === 'main')?.commitBytes ?? new Uint8Array(32);
  return { commitBytes, keys: [], segments: new Map(segments) };
}

const keyOf = (r: Random) =>
  `${r.pick(['a', 'b', 'bb', 'c/'])}${r.below(3000)}${r.pick(['', '', r.text(30)])}`;

function randomValue(r: Random): unknown {
  if (r.next() < 0.03) return r.bytes(r.below(100_000));
  if (r.next() < 0.02) return { n: r.below(9), t: 'long '.repeat(r.below(30_000)) };
  if (r.next() < 0.02) return r.value();
  return {
    n: r.pick([r.below(20), -r.next() * 10 ** r.below(300), r.next(), 'text', null, true]),
    t: r.pick([r.text(8), r.text(40), null, undefined, false]),
    tags: r.pick([[], [r.text(3), r.below(5), r.text(3)], 'one', undefined]),
    more: r.text(r.below(200)),
  };
}

/** Makes a store of several commits. */
async function randomStore(r: Random): Promise<Stored> {
  const storage = memory();
  const db = await open('random', { storage, indexes: INDEXES });
  for (let commit = 0; commit <= r.below(4); commit++) {
    const rows = Array.from({ length: r.below(r.pick([3, 300, 3000])) }, () => keyOf(r));
    await db.putMany(rows.map((key): [string, unknown] => [key, randomValue(r)]));
    if (r.next() < 0.3) await db.deleteMany({ prefix: r.pick(['b', 'a1', 'c']) });
    if (r.next() < 0.3) await db.put(keyOf(r), randomValue(r));
  }
  // Waits for the indexes.
  for (const index of Object.keys(INDEXES)) await db.count({ index });
  const keys = await db.scan().keys().toArray();
  await db.close();
  return { ...(await storedIn(storage, 'random')), keys };
}

/** Returns hosts of the core and of a reader, over the same segments. */
async function bothHosts({ segments }: Stored, cacheBytes: number): Promise<[Host, Host]> {
  const stored = {
    read: async (wanted: Parameters<SegmentStore['read']>[0]) =>
      wanted.map((one) => {
        const bytes = segments.get(segmentOf(one))?.segmentBytes;
        return bytes && cutSegment(one, bytes).slice();
      }),
  } as SegmentStore;
  const engines = [await startEngine(cacheBytes), Engine.createReader(cacheBytes)];
  await engines[1]?.prepareIndexWalks();
  const [core, reader] = engines.map((engine) => {
    for (const [id, { tableBytes }] of segments) segmentCalls.addTable(engine, id, tableBytes);
    return new Host(engine, stored, 8, indexesOf(INDEXES));
  });
  return [core as Host, reader as Host];
}

async function openView(
  host: Host,
  commitBytes: Uint8Array,
): Promise<{ view: number; rows: number }> {
  for (;;) {
    const status = host.engine.openView(commitBytes);
    if (status === Status.done) return host.engine.openedView();
    if (status !== Status.need) fail(host.engine, status);
    await host.load(host.engine.readNeededParts());
  }
}

interface Read {
  /** Whether it may come to several damaged chunks, in an order of its own. */
  readonly isOfMany?: boolean;
  run(host: Host, view: number): Promise<unknown>;
  /** The same, row by row. A batched descent of the core may read nodes that no path of its keys has. */
  runOneByOne?(host: Host, view: number): Promise<unknown>;
}

const boundOf = (r: Random) => r.pick([keyOf(r), keyOf(r), keyOf(r).slice(0, 2), '']);

function rangeOf(r: Random): KeyRange {
  return {
    ...(r.next() < 0.3 && { prefix: boundOf(r).slice(0, 3) }),
    ...(r.next() < 0.4 && { [r.pick(['gt', 'gte'])]: boundOf(r) }),
    ...(r.next() < 0.4 && { [r.pick(['lt', 'lte'])]: boundOf(r) }),
  };
}

function indexRangeOf(r: Random): IndexRange {
  const index = r.pick(Object.keys(INDEXES));
  const one = () => r.pick([r.below(20), r.text(2), null, true, -1e100]);
  const scalar = () => (index === 'byTag' ? r.pick([[one()], [one(), one()]]) : one());
  const range = {
    ...(r.next() < 0.3 && { [r.pick(['gt', 'gte'])]: scalar() }),
    ...(r.next() < 0.3 && { [r.pick(['lt', 'lte'])]: scalar() }),
  };
  return { index, ...(r.next() < 0.1 ? { equals: scalar() } : range) } as IndexRange;
}

function scanOf(r: Random): Read {
  const isOfIndex = r.next() < 0.5;
  const range = isOfIndex ? indexRangeOf(r) : rangeOf(r);
  const keys = ReadFlag.keys | (isOfIndex ? ReadFlag.secondary : 0);
  const parts = r.pick([ReadFlag.keys, ReadFlag.values, keys, keys | ReadFlag.values]);
  const [reverse, offset] = [r.next() < 0.5, r.pick([0, 0, r.below(20), r.below(3000)])];
  const limit = r.pick([1, 5, 100, Number.MAX_SAFE_INTEGER]);
  const run = async (host: Host, view: number) => {
    const encoded = host.indexes.encode(range);
    const start = () => ({
      op: reads.scan(host.engine, view, { range: encoded, parts, reverse, offset, limit }),
    });
    const members: unknown[] = [];
    for await (const block of blocks(host, start, undefined)) members.push(...block);
    return members;
  };
  return { isOfMany: isOfIndex, run };
}

/** Reads the value of a key; resolves to `FAR` if it is out of line. */
async function readValue(host: Host, view: number, key: string): Promise<unknown> {
  const { engine } = host;
  for (;;) {
    const status = reads.get(engine, view, key);
    if (status === Status.done) return reads.readFoundValue(engine);
    if (status !== Status.need) return status === Status.far ? FAR : fail(engine, status);
    await host.load(engine.readNeededParts());
  }
}

const FAR = 'far';

function readOf(r: Random, keys: readonly string[]): Read {
  const key = () => (r.next() < 0.7 && keys.length > 0 ? r.pick(keys) : keyOf(r));
  switch (r.below(6)) {
    case 0: {
      const wanted = key();
      return { run: (host: Host, view: number) => readValue(host, view, wanted) };
    }
    case 1: {
      const wanted = Array.from({ length: r.below(r.pick([3, 50, 800])) }, key);
      const find = (host: Host, view: number, some: readonly string[]) => {
        const op = reads.find(host.engine, view, some);
        return host.read(op, () => foundOf(host.engine, some.length));
      };
      const runOneByOne = async (host: Host, view: number) => {
        const values: unknown[] = [];
        for (const one of wanted) {
          const value = await readValue(host, view, one);
          values.push(value === FAR ? (await find(host, view, [one]))[0] : value);
        }
        return values;
      };
      return { isOfMany: true, run: (host, view) => find(host, view, wanted), runOneByOne };
    }
    case 2: {
      const range = r.next() < 0.5 ? rangeOf(r) : indexRangeOf(r);
      const run = (host: Host, view: number) => {
        const op = reads.startCount(host.engine, view, host.indexes.encode(range));
        return host.read(op, () => reads.readCountReply(host.engine));
      };
      return { isOfMany: true, run };
    }
    case 3:
      return {
        run: async ({ indexes }, view) => [
          indexes.hasOthers(view),
          ...indexes.all.map((index) => indexes.state(view, index)),
        ],
      };
    default:
      return scanOf(r);
  }
}

/** Returns the result of a read, or its error. */
async function outcome(read: () => Promise<unknown>): Promise<unknown> {
  try {
    return await read();
  } catch (cause) {
    const code = kindOf(cause as { code: string });
    if (code === undefined) throw cause;
    const { chunk, message } = cause as { chunk?: string; message: string };
    return { code, chunk, what: /malformed at byte \d+: [a-z ]*/.exec(message)?.[0] };
  }
}

const faultOf = (outcome: unknown) => Object(outcome) as { code?: string; chunk?: string };

/** Expects two reads of many rows to fail, each by a damaged chunk; for the same chunk, in the same way. */
function expectDamage(got: unknown, expected: unknown): void {
  const [a, b] = [faultOf(got), faultOf(expected)];
  const damage = /^(missing|corrupt)-chunk/;
  if (a.chunk === b.chunk || !damage.test(`${b.code}`)) expect(a.code).toBe(b.code);
  else expect(a.code).toMatch(damage);
}

/** Opens the commit in both hosts, and compares the results of random reads. */
async function compareReads(r: Random, stored: Stored, begin: BeginStep): Promise<void> {
  const hosts = await bothHosts(stored, r.pick([0, 1 << 20, 64 << 20]));
  const opened = await Promise.all(
    hosts.map((host) => outcome(() => openView(host, stored.commitBytes))),
  );
  const [core, reader] = opened as [
    { view?: number; rows: number },
    { view: number; rows: number },
  ];
  if (core.view === undefined) {
    expect(reader).toEqual(core);
    return;
  }
  expect(reader.rows).toBe(core.rows);
  for (let step = 0; step < 40; step++) {
    const read = readOf(r, stored.keys);
    begin({ step });
    const view = core.view;
    const got = await outcome(() => read.run(hosts[1], reader.view));
    let expected = await outcome(() => read.run(hosts[0], view));
    if (faultOf(expected).code !== undefined && faultOf(got).code === undefined)
      expected = await outcome(async () => (read.runOneByOne ?? read.run)(hosts[0], view));
    // A read of many rows may come to the damaged chunks in another order.
    if (read.isOfMany && faultOf(expected).code !== undefined) expectDamage(got, expected);
    else expect(got).toEqual(expected);
  }
}

/** Returns a commit that names a tree of rows. */
function commitOf(root: Uint8Array, count: number): Uint8Array {
  const bytes = new Uint8Array(2 + 2 + 2 + 8 + 32);
  bytes.set([0xc0, 1, 1, 0, 1, 0x72]);
  new DataView(bytes.buffer).setBigUint64(6, BigInt(count), true);
  bytes.set(root, 14);
  return bytes;
}

/** Changes some bytes of a chunk. */
function forgedChunk(r: Random, chunk: Uint8Array): Uint8Array {
  let forged = chunk.slice();
  for (let change = 0; change <= r.below(3); change++) {
    forged[r.below(r.pick([4, 60, forged.length]))] = r.pick([0, 1, 2, 255, r.below(256)]);
  }
  if (r.next() < 0.1) forged = forged.slice(0, r.below(forged.length + 1));
  return forged;
}

/** Damages bytes: flips a bit, or cuts off the end. */
function damaged(r: Random, bytes: Uint8Array): Uint8Array {
  if (bytes.length === 0) return bytes;
  if (r.next() < 0.3) return bytes.slice(0, r.below(bytes.length));
  return flipped(bytes, r.below(8 * bytes.length));
}

/** Damages a table: its header or its hashes, or the places and lengths of its chunks. */
function damagedTable(r: Random, bytes: Uint8Array): Uint8Array {
  if (r.next() < 0.3) return damaged(r, bytes);
  const { length } = bytes;
  const placesBytes = ((length - TABLE_HEADER_BYTES) / TABLE_ENTRY_BYTES) * 8;
  return flipped(bytes, 8 * (length - placesBytes) + r.below(8 * placesBytes));
}

describe('the reader', () => {
  it('answers as the core', () =>
    forSeeds(40, async (r, _seed, begin) => compareReads(r, await randomStore(r), begin)));

  it('reports the errors of the core for missing and damaged segments', () =>
    forSeeds(40, async (r, _seed, begin) => {
      const stored = await randomStore(r);
      const isMissing = r.next() < 0.3;
      for (const [id, { tableBytes, segmentBytes }] of [...stored.segments]) {
        if (r.next() < 0.5) continue;
        if (isMissing) stored.segments.delete(id);
        else stored.segments.set(id, { tableBytes, segmentBytes: damaged(r, segmentBytes) });
      }
      await compareReads(r, stored, begin);
    }));

  it('finds no chunks in the tables that the core refuses', () =>
    forSeeds(40, async (r, _seed, begin) => {
      const stored = await randomStore(r);
      for (const [id, { tableBytes, segmentBytes }] of [...stored.segments]) {
        if (r.next() < 0.3) continue;
        stored.segments.set(id, { tableBytes: damagedTable(r, tableBytes), segmentBytes });
      }
      await compareReads(r, stored, begin);
    }));

  it('refuses the commits and nodes that the core refuses', () =>
    forSeeds(40, async (r, _seed, begin) => {
      const stored = await randomStore(r);
      const chunks = [...stored.segments.values()].flatMap((segment) =>
        chunksOf(segment).map((place) => chunkIn(segment.segmentBytes, place)?.slice()),
      );
      for (let nth = 0; chunks.length > 0 && nth < 20; nth++) {
        const chunk = r.pick(chunks) as Uint8Array;
        const forged = forgedChunk(r, chunk);
        const node = forged.length < 4 ? chunk : forged;
        const counts = [lengthOf(node), totalOf(node)].filter((count) => count < 2 ** 50);
        const isCommit = chunk[0] === 0xc0;
        const commit = isCommit ? forged : commitOf(hashOf(forged), r.pick(counts));
        const added = [forged, commit].map((bytes, at) => [1000 + at, segmentWith(bytes)] as const);
        const segments = new Map([...stored.segments, ...added]);
        await compareReads(r, { ...stored, segments, commitBytes: hashOf(commit) }, begin);
      }
    }));
});
