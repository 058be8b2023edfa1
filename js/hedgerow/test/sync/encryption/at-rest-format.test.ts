/**
 * The bytes of encrypted stores, read by a decoder that follows `docs/format.md` alone and uses Node's own ciphers: it
 * shares no code with the package. Also a store of an earlier version, which every later version must open.
 */
import { createDecipheriv, createHmac, hkdfSync, pbkdf2Sync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { memory, open } from '../../../src/index.js';
import type { Ref } from '../../../src/storage/segment-store.js';
import { type AtRestKey, atRest } from '../../../src/sync/encryption/index.js';
import { all, type Entry, expectSame } from '../../support/models/store-model.js';
import { random } from '../../support/random.js';
import { type Dump, dumpOf, storageOf } from './at-rest-dump.js';

const NONE = Buffer.alloc(0);
const hkdf = (key: Uint8Array, salt: Uint8Array, info: string) =>
  Buffer.from(hkdfSync('sha256', key, salt, info, 32));

function frame(key: Uint8Array, number: number, bound: Uint8Array, sealed: Uint8Array): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUInt32LE(number);
  const end = sealed.length - 16;
  const cipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: 16 });
  cipher.setAAD(bound).setAuthTag(sealed.subarray(end));
  return Buffer.concat([cipher.update(sealed.subarray(0, end)), cipher.final()]);
}

/** A store before its encryption. */
function decoded(
  { segments, refs }: Dump,
  given: { key?: Uint8Array | undefined; passphrase?: string | undefined },
): Dump {
  const newest = new Map(refs.map(([ref]) => [ref!.name, ref!]));
  const { generation } = newest.get('main') as Ref;
  const parts = (copy: string) =>
    [0, 1, 2].map((part) => newest.get(`encryption/${generation}/${copy}${part}`)!.commitBytes);
  const record = Buffer.concat(parts('a'));
  expect(Buffer.concat(parts('b')).equals(record)).toBe(true);
  expect(record.toString('latin1', 0, 4)).toBe('HDGK');
  const [salt, sealedKey] = [record.subarray(12, 44), record.subarray(44, 92)];
  const isPassphrase = given.passphrase !== undefined;
  expect([...record.subarray(4, 12)]).toEqual(
    isPassphrase ? [1, 1, 0, 0, 0xc0, 0x27, 0x09, 0] : [1, 0, 0, 0, 0, 0, 0, 0],
  );
  const appKey = isPassphrase
    ? pbkdf2Sync(String(given.passphrase).normalize('NFC'), salt, 600_000, 32, 'sha256')
    : (given.key as Uint8Array);
  const wrap = hkdf(appKey, salt, 'hedgerow at rest 1: data key');
  const dataKey = frame(wrap, 0, record.subarray(0, 44), sealedKey);
  const codes = hkdf(dataKey, NONE, 'hedgerow at rest 1: codes');
  const masks = hkdf(dataKey, NONE, 'hedgerow at rest 1: masks');

  const unmasked = (context: unknown[], code: Uint8Array, masked: Uint8Array, length: number) => {
    const start = Buffer.from(`${JSON.stringify(context)}\0`);
    const mask = Array.from({ length: Math.ceil(masked.length / 32) }, (_, at) => {
      const count = Buffer.from([at & 255, at >> 8]);
      return createHmac('sha256', masks).update(start).update(code).update(count).digest();
    });
    const all = Buffer.concat(mask);
    const plain = Buffer.from(masked.map((byte, at) => byte ^ all[at]!));
    const whole = createHmac('sha256', codes).update(start).update(plain).digest();
    expect(whole.subarray(0, length).equals(Buffer.from(code).subarray(0, length))).toBe(true);
    return { plain, whole };
  };
  const refOf = ({ name, generation, format: word, commitBytes }: Ref): Ref => {
    const sealed = Buffer.from(name, 'hex');
    const text = unmasked(['ref'], sealed.subarray(0, 16), sealed.subarray(16), 16).plain;
    const [plainName, format] = [JSON.parse(text.toString()) as string, word & 255];
    expect(text.length % 32).toBe(0);
    const code = Buffer.alloc(4);
    code.writeUInt32LE((word >>> 8) & 0x7fffff);
    const context = ['commit', plainName, generation, format];
    const { plain, whole } = unmasked(context, code.subarray(0, 3), commitBytes, 0);
    expect(whole.readUInt32LE() & 0x7fffff).toBe(code.readUInt32LE());
    expect(word >>> 31).toBe(1);
    return { name: plainName, commitBytes: plain, generation, format };
  };
  return {
    segments: segments.map(({ id, segmentBytes, tableBytes }) => {
      const [head, header] = [segmentBytes.subarray(0, 20), tableBytes.subarray(0, 20)];
      expect(Buffer.from(head).equals(header)).toBe(true);
      const key = hkdf(dataKey, head.subarray(0, 16), 'hedgerow at rest 1: segment');
      const bound = Buffer.alloc(12);
      bound.writeDoubleLE(id);
      Buffer.from(head).copy(bound, 8, 16, 20);
      return {
        id,
        segmentBytes: frame(key, 1, bound, segmentBytes.subarray(20)),
        tableBytes: frame(key, 0, bound, tableBytes.subarray(20)),
      };
    }),
    refs: refs
      .filter(([ref]) => /^[0-9a-f]+$/.test(ref?.name ?? ''))
      .map((moves) => moves.map(refOf))
      .sort(([a], [b]) => ((a as Ref).name < (b as Ref).name ? -1 : 1)),
  };
}

const plainBytes = (dump: Dump) => ({
  segments: dump.segments.map(({ id, segmentBytes, tableBytes }) => {
    return { id, segmentBytes: Buffer.from(segmentBytes), tableBytes: Buffer.from(tableBytes) };
  }),
  refs: dump.refs.map((moves) =>
    moves.map((ref) => ({ ...ref, commitBytes: Buffer.from(ref.commitBytes) })),
  ),
});

describe('the stored bytes', () => {
  const keys: readonly [string, AtRestKey & { key?: Uint8Array }][] = [
    ['of a key', { key: random(1).bytes(32) }],
    ['of a passphrase', { passphrase: 'correct horse caf\u00e9' }],
  ];

  it.each(keys)('follow the format: %s', async (_, key) => {
    const storage = memory();
    const encryption = atRest(key);
    const db = await open('test', { storage, encryption, indexes: { a: { path: '/a' } } });
    await db.putMany(
      Array.from(
        { length: 3000 },
        (_, at): Entry => [`key ${at}`, { a: at % 7, text: 'x'.repeat(50) }],
      ),
    );
    await db.put('large', random(2).bytes(200_000));
    const draft = await db.branches.open(`a draft with a name of more than thirty bytes`);
    await draft.put('b', 1);
    await db.put('c', 2);
    await db.close();
    const plain = await dumpOf(encryption.over(storage));
    expect(plain.segments.some(({ segmentBytes }) => segmentBytes.length > 200_000)).toBe(true);
    expectSame(plainBytes(decoded(await dumpOf(storage), key)), plainBytes(plain));
  });
});

describe('a store of an earlier version', () => {
  const path = new URL('../../../../../vectors/at-rest/store.json', import.meta.url);
  const { key, passphrase, root, rows, stores } = JSON.parse(readFileSync(path, 'utf8')) as {
    readonly key: string;
    readonly passphrase: string;
    readonly root: string;
    readonly rows: Entry[];
    readonly stores: Record<'key' | 'passphrase', StoredDump>;
  };
  type StoredDump = {
    readonly segments: readonly { id: number; segment: string; table: string }[];
    readonly refs: readonly (Omit<Ref, 'commitBytes'> & { commit: string })[][];
  };
  const bytes = (text: string) => new Uint8Array(Buffer.from(text, 'hex'));
  const dumpFrom = ({ segments, refs }: StoredDump): Dump => ({
    segments: segments.map(({ id, segment, table }) => {
      return { id, segmentBytes: bytes(segment), tableBytes: bytes(table) };
    }),
    refs: refs.map((moves) =>
      moves.map(({ commit, ...ref }) => ({ ...ref, commitBytes: bytes(commit) })),
    ),
  });

  it.each([
    ['key', { key: bytes(key) }],
    ['passphrase', { passphrase }],
  ] as const)('is opened by its %s', async (kind, given) => {
    const dump = dumpFrom(stores[kind]);
    const db = await open('test', { storage: storageOf(dump), encryption: atRest(given) });
    expect(db.root).toBe(root);
    expectSame(await all(db), rows);
    expect((await db.branches.list()).map(({ name }) => name)).toEqual(['main', 'draft']);
    await db.close();
    expect(
      decoded(dump, given)
        .refs.map(([ref]) => ref?.name)
        .sort(),
    ).toContain('branch/draft');
  });
});
