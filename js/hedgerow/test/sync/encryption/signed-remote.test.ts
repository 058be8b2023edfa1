/** Remotes with signed heads: keys, the contract, vectors of another writer, and heads that no key holder has made. */

import { readFileSync } from 'node:fs';
import { afterEach, assert, describe, expect, it, vi } from 'vitest';
import { hex } from '../../../src/base/hex.js';
import type { HedgerowError } from '../../../src/index.js';
import {
  type SignedRemoteOptions,
  signedRemote,
  signingKeys,
} from '../../../src/sync/encryption/index.js';
import { MAX_UNSIGNED_HEAD_BYTES } from '../../../src/sync/remote/format/format-limits.js';
import { memoryRemote, probeRemote, type Remote } from '../../../src/sync/remote/index.js';
import { remoteContract } from '../../support/contracts/remote-contract.js';
import { forCuts, forFlips } from '../../support/damaged-bytes.js';
import { faultyRemote } from '../../support/doubles/faulty-remote.js';
import { kindOf } from '../../support/error-kind.js';
import { failure } from '../../support/models/store-model.js';
import { random } from '../../support/random.js';
import { unhex } from '../../support/remote-store.js';
import { PRIVATE, PUBLIC, signedBy } from '../../support/signed-keys.js';

function vectorsIn<T>(file: URL): T {
  return JSON.parse(readFileSync(file, 'utf8')) as T;
}

interface SignedVectors {
  readonly keys: Readonly<Record<string, { readonly private: string; readonly public: string }>>;
  readonly heads: readonly {
    readonly name: string;
    readonly key: string;
    readonly branch: string;
    readonly place: string;
    readonly head: string;
    readonly bytes: string;
  }[];
  readonly refused: readonly {
    readonly name: string;
    readonly bytes: string;
    readonly code: string;
    readonly offset?: number;
  }[];
}

const vectors = vectorsIn<SignedVectors>(
  new URL('../../../../../vectors/remote/signed.json', import.meta.url),
);

afterEach(() => {
  vi.restoreAllMocks();
});

const text = (bytes: string) => new TextEncoder().encode(bytes);

/** A remote that shows these bytes as the head of every branch, and counts its calls. */
function showing(bytes: Uint8Array): Remote & { readonly asked: (boolean | undefined)[] } {
  const asked: (boolean | undefined)[] = [];
  const head = () => ({ bytes: bytes.slice(), token: '"1"', modifiedMs: 1 });
  return {
    ...memoryRemote(),
    asked,
    async readHead(_, options) {
      asked.push(options?.pastCaches);
      return head();
    },
    readHeadSince: async () => head(),
  };
}

/** Returns the error of a call. */
const caught = async (call: Promise<unknown>): Promise<HedgerowError> =>
  call.then(
    () => assert.fail('it does not reject'),
    (cause) => cause,
  );

describe('signedRemote()', () => {
  const shared = signedBy(PRIVATE)(memoryRemote());
  for (const { name, run } of remoteContract) {
    it(name, () => run(() => shared, assert, MAX_UNSIGNED_HEAD_BYTES));
  }

  it('has room for a signature in every head', () => {
    expect(MAX_UNSIGNED_HEAD_BYTES).toBe(65_536 - 72);
  });

  it('works over a remote with faults, and never reads a wrong head', async () => {
    const inner = memoryRemote();
    const chances = { flipped: 0.3, cut: 0.05, stale: 0.2, lost: 0.1, landed: 0.1 };
    const faulty = faultyRemote(inner, { seed: 5, chances });
    const remote = signedBy(PRIVATE)(faulty);
    const right = signedBy(undefined)(inner);
    const written = new Set<string | undefined>();
    const codes = new Set<string | undefined>();
    let refused = 0;
    for (let nth = 0; nth < 400; nth++) {
      const token = (await right.readHead('main'))?.token;
      const state = `state ${nth}`;
      written.add(state);
      await remote.swapHead('main', token, text(state)).catch((cause) => codes.add(kindOf(cause)));
      try {
        const head = await remote.readHead('main');
        if (head) expect(written).toContain(new TextDecoder().decode(head.bytes));
      } catch (cause) {
        codes.add(kindOf(cause));
        refused += 1;
      }
    }
    expect(refused).toBeGreaterThan(10);
    expect([...codes].sort()).toEqual(['offline', 'remote/data']);
  });
});

describe('the vectors', () => {
  it('are read, and no other bytes are a head', async () => {
    expect(vectors.heads).toHaveLength(8);
    for (const { key, branch, place, head, bytes } of vectors.heads) {
      const publicKey = unhex(vectors.keys[key]?.public ?? '');
      const inner = showing(unhex(bytes));
      const found = await signedRemote(inner, { publicKey, place }).readHead(branch);
      expect(hex(found?.bytes as Uint8Array)).toBe(head);
      expect(found).toMatchObject({ token: '"1"', modifiedMs: 1 });
      expect(inner.asked).toEqual([undefined]);
    }
  });

  it('are written: Ed25519 makes one signature of the same bytes', async () => {
    for (const { key, branch, place, head, bytes } of vectors.heads) {
      const publicKey = unhex(vectors.keys[key]?.public ?? '');
      const privateKey = unhex(vectors.keys[key]?.private ?? '');
      const inner = memoryRemote();
      const remote = signedRemote(inner, { publicKey, privateKey, place });
      await remote.swapHead(branch, undefined, unhex(head));
      const stored = (await inner.readHead(branch))?.bytes as Uint8Array;
      // Some engines add noise to signatures.
      const front = stored.length - 64;
      expect(hex(stored.subarray(0, front))).toBe(bytes.slice(0, 2 * front));
      expect((await remote.readHead(branch))?.bytes).toEqual(unhex(head));
    }
  });

  it('are refused by code and offset where they must be', async () => {
    expect(vectors.refused).toHaveLength(20);
    const publicKey = unhex(vectors.keys.key?.public ?? '');
    for (const { name, bytes, code, offset } of vectors.refused) {
      const inner = showing(unhex(bytes));
      const remote = signedRemote(inner, { publicKey });
      for (const call of [
        () => remote.readHead('main'),
        () => remote.readHeadSince('main', '"0"'),
      ]) {
        const { object, ...error } = await caught(call());
        expect([name, kindOf(error), error.offset, object]).toEqual([name, code, offset, 'head']);
      }
      const again = code === 'remote/data' ? [undefined, true, true] : [undefined];
      expect([name, ...inner.asked]).toEqual([name, ...again]);
    }
  });
});

describe('a head', () => {
  it('is refused with any bit flipped, and after any cut', async () => {
    const inner = memoryRemote();
    await signedBy(PRIVATE)(inner).swapHead('main', undefined, random(1).bytes(150));
    const bytes = (await inner.readHead('main'))?.bytes as Uint8Array;
    const codeOf = async (lie: Uint8Array) =>
      kindOf(await caught(signedBy(undefined)(showing(lie)).readHead('main')));
    expect(bytes).toHaveLength(222);
    // The state comes before the signature; the fifth byte of the signature is its version.
    const versionAt = 150 + 4;
    await forFlips(bytes, async (lie, bit) => {
      const code = await codeOf(lie);
      // A version above 1.
      const isLater = bit >> 3 === versionAt && (lie[versionAt] as number) > 1;
      expect(code).toBe(isLater ? 'newer-version/format' : 'remote/data');
    });
    await forCuts(bytes, async (lie) => expect(await codeOf(lie)).toBe('remote/data'));
    for (const lie of [Uint8Array.of(...bytes, 0), Uint8Array.of(0, ...bytes)]) {
      expect(await codeOf(lie)).toBe('remote/data');
    }
  });

  it('is refused for another branch, place or key', async () => {
    const inner = memoryRemote();
    await signedBy(PRIVATE, { place: 'a' })(inner).swapHead('main', undefined, text('state'));
    const bytes = (await inner.readHead('main'))?.bytes as Uint8Array;
    const { publicKey } = await signingKeys(random(9).bytes(32));
    const read = (branch: string, how: Partial<SignedRemoteOptions>) =>
      signedRemote(showing(bytes), { publicKey: PUBLIC, place: 'a', ...how }).readHead(branch);
    expect((await read('main', {}))?.bytes).toEqual(text('state'));
    expect((await read('main', { publicKey: [publicKey, PUBLIC] }))?.bytes).toEqual(text('state'));
    for (const call of [
      () => read('Main', {}),
      () => read('mai', { place: 'an' }),
      () => read('main', { place: '' }),
      () => read('main', { place: undefined }),
      () => read('main', { place: 'A' }),
      () => read('main', { publicKey }),
      () => read('main', { publicKey: [publicKey] }),
    ]) {
      expect(await caught(call())).toEqual(failure('remote/data', { object: 'head' }));
    }
  });

  it('is read again past a cache that has damaged it', async () => {
    const inner = memoryRemote();
    const swap = await signedBy(PRIVATE)(inner).swapHead('main', undefined, text('right'));
    const token = swap.state === 'swapped' ? swap.token : '';
    const damaged = { bytes: text('wrong'), token: '"0"', modifiedMs: undefined };
    const cached: Remote = {
      ...inner,
      readHead: async (branch, options) =>
        options?.pastCaches ? inner.readHead(branch, options) : damaged,
      readHeadSince: async () => damaged,
      swapHead: async () => ({ state: 'lost', head: damaged }),
    };
    const right = { bytes: text('right'), token };
    const remote = signedBy(PRIVATE)(cached);
    expect(await remote.readHead('main')).toMatchObject(right);
    expect(await remote.readHeadSince('main', '"9"')).toMatchObject(right);
    expect(await remote.swapHead('main', '"9"', text('next'))).toMatchObject({
      state: 'lost',
      head: right,
    });
  });

  it('is checked after a lost swap, too', async () => {
    const inner = memoryRemote();
    await inner.swapHead('main', undefined, text('of nobody'));
    const remote = signedBy(PRIVATE)(inner);
    const error = await caught(remote.swapHead('main', undefined, text('mine')));
    expect(error).toEqual(failure('remote/data', { object: 'head' }));
    expect((await inner.readHead('main'))?.bytes).toEqual(text('of nobody'));
  });

  it('is signed with the state at the call', async () => {
    const remote = signedBy(PRIVATE)(memoryRemote());
    const bytes = text('before');
    const swapped = remote.swapHead('main', undefined, bytes);
    bytes.fill(0);
    await swapped;
    expect((await remote.readHead('main'))?.bytes).toEqual(text('before'));
  });
});

describe('a reader', () => {
  it('cannot write, and sends no request', async () => {
    const inner = memoryRemote();
    await signedBy(PRIVATE)(inner).swapHead('main', undefined, text('state'));
    const calls: string[] = [];
    const counted = new Proxy(inner, {
      get:
        (target, name) =>
        (...args: unknown[]) => {
          calls.push(String(name));
          return Reflect.get(target, name)(...args);
        },
    });
    const remote = signedBy(undefined)(counted);
    const name = `p/${'0'.repeat(64)}`;
    for (const call of [
      () => remote.swapHead('main', undefined, text('x')),
      () => remote.put(name, text('x')),
      () => remote.put('hedgerow', text('x')),
      () => remote.remove([name]),
      () => probeRemote(remote),
    ]) {
      const error = await caught(call());
      expect(error).toEqual(failure('unauthorized'));
      expect(error.message).toContain('privateKey');
    }
    expect(calls).toEqual([]);
    expect((await remote.readHead('main'))?.bytes).toEqual(text('state'));
    expect(await remote.get(name)).toBeUndefined();
    expect(await remote.list('h/')).toHaveLength(1);
  });
});

describe('keys', () => {
  it('may come from WebCrypto', async () => {
    const { publicKey, privateKey } = (await crypto.subtle.generateKey('Ed25519', false, [
      'sign',
      'verify',
    ])) as CryptoKeyPair;
    const remote = signedRemote(memoryRemote(), { publicKey, privateKey });
    await remote.swapHead('main', undefined, text('state'));
    expect((await remote.readHead('main'))?.bytes).toEqual(text('state'));
  });

  it('are copied: the app may wipe its bytes after the call', async () => {
    const [publicKey, privateKey] = [PUBLIC.slice(), PRIVATE.slice()];
    const remote = signedRemote(memoryRemote(), { publicKey, privateKey });
    publicKey.fill(0);
    privateKey.fill(0);
    await remote.swapHead('main', undefined, text('state'));
    expect((await remote.readHead('main'))?.bytes).toEqual(text('state'));
  });

  it('are refused at once if they are malformed', async () => {
    const pair = (await crypto.subtle.generateKey('Ed25519', true, [
      'sign',
      'verify',
    ])) as CryptoKeyPair;
    const hmac = await crypto.subtle.generateKey({ name: 'HMAC', hash: 'SHA-256' }, true, [
      'sign',
      'verify',
    ]);
    const publicKey = PUBLIC;
    const zeros = new Uint8Array(32);
    const wrong: unknown[] = [
      {},
      { publicKey: undefined },
      { publicKey: null },
      { publicKey: hex(PUBLIC) },
      { publicKey: PUBLIC.slice(1) },
      { publicKey: zeros },
      { publicKey: [] },
      { publicKey: [PUBLIC, zeros] },
      { publicKey: pair.privateKey },
      { publicKey: hmac },
      { publicKey, privateKey: null },
      { publicKey, privateKey: 'key' },
      { publicKey, privateKey: PRIVATE.slice(1) },
      { publicKey, privateKey: zeros },
      { publicKey, privateKey: pair.publicKey },
      { publicKey, privateKey: hmac },
      { publicKey, place: 7 },
      { publicKey, place: '\ud800' },
      { publicKey, room: 'a' },
      undefined,
      PUBLIC,
    ];
    for (const [nth, options] of wrong.entries()) {
      const call = async () => signedRemote(memoryRemote(), options as never);
      expect([nth, kindOf(await caught(call()))]).toEqual([nth, 'invalid-argument']);
    }
  });

  it('do not write if they are not a pair', async () => {
    const inner = memoryRemote();
    const remote = signedRemote(inner, {
      publicKey: PUBLIC,
      privateKey: random(9).bytes(32),
    });
    const error = await caught(remote.swapHead('main', undefined, text('state')));
    expect(error).toEqual(failure('invalid-argument'));
    expect(error.message).toContain('publicKey');
    expect(await inner.list('h/')).toEqual([]);
  });

  it.each([
    ['Ed25519', () => vi.spyOn(crypto.subtle, 'importKey').mockRejectedValue(notSupported())],
    ['WebCrypto', () => vi.spyOn(prototypeOf(crypto), 'subtle', 'get').mockReturnValue(undefined)],
  ])('are `unsupported` in an engine without %s, before any request', async (_, take) => {
    take();
    const inner = new Proxy({} as Remote, {
      get: (_target, name) => () => assert.fail(`it was asked: ${String(name)}`),
    });
    const reader = signedRemote(inner, { publicKey: PUBLIC });
    const writer = signedRemote(inner, { publicKey: PUBLIC, privateKey: PRIVATE });
    for (const call of [
      () => reader.readHead('main'),
      () => reader.readHeadSince('main', '"1"'),
      () => writer.swapHead('main', undefined, text('x')),
      () => writer.put('hedgerow', text('x')),
      () => signingKeys(PRIVATE),
    ]) {
      const error = await caught(call());
      expect(error).toEqual(failure('unsupported'));
      expect(error.message).toMatch(/Ed25519|crypto\.subtle/);
    }
  });
});

const prototypeOf = (object: Crypto): { subtle: unknown } => Object.getPrototypeOf(object);
const notSupported = () => new DOMException('Unrecognized algorithm name', 'NotSupportedError');
