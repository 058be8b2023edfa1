/**
 * Cases for every adapter of a remote: one for each sentence of `remote/remote.ts`. It uses no test framework, so Node
 * and a page in a browser can both run it.
 */
import { HedgerowError } from '../../../src/base/errors.js';
import { MAX_HEAD_BYTES, MAX_OBJECT_BYTES } from '../../../src/base/limits.js';
import { hashedName } from '../../../src/sync/remote/hashed-name.js';
import { headName } from '../../../src/sync/remote/object-names.js';
import { probeRemote } from '../../../src/sync/remote/probe-swap-safety.js';
import type { Remote, RemoteHead, Swap } from '../../../src/sync/remote/remote.js';
import { kindOf } from '../error-kind.js';

export type Assert = (condition: unknown, message: string) => void;

/** A place: each call gives one more client of it. */
export type MakeRemote = () => Remote;

export interface RemoteCase {
  readonly name: string;
  /** Can run many times on one place: it uses names of its own. `maxHeadBytes` is for a remote that adds to heads. */
  run(make: MakeRemote, assert: Assert, maxHeadBytes?: number): Promise<void>;
}

/** The parameters of a case's body. */
interface Scene {
  readonly remote: Remote;
  readonly make: MakeRemote;
  /** A branch that has no head. */
  readonly branch: string;
  readonly maxHeadBytes: number;
  readonly assert: Assert;
  equal(actual: unknown, expected: unknown, message: string): void;
  same(actual: Uint8Array | undefined, expected: Uint8Array, message: string): void;
  rejects(call: () => Promise<unknown>, code: string, message: string): Promise<void>;
}

let cases = 0;
const run = Math.floor(Math.random() * 2 ** 40).toString(36);

const shown = (value: unknown) =>
  value instanceof Uint8Array ? `${value.length} bytes` : JSON.stringify(value);

function fact(name: string, body: (scene: Scene) => Promise<void>): RemoteCase {
  return {
    name,
    async run(make, assert, maxHeadBytes = MAX_HEAD_BYTES) {
      const remote = make();
      // Upper case and a dot: both are escaped.
      const branch = `Case.${run}-${cases++}`;
      const equal: Scene['equal'] = (actual, expected, message) => {
        const [is, wanted] = [shown(actual), shown(expected)];
        assert(is === wanted, `${message}: expected ${wanted}, got ${is}`);
      };
      await body({
        ...{ remote, make, branch, maxHeadBytes, assert, equal },
        same(actual, expected, message) {
          equal(actual, expected, `${message}: length`);
          const at = actual?.findIndex((byte, i) => byte !== expected[i]);
          equal(at, -1, `${message}: first byte that differs`);
        },
        async rejects(call, code, message) {
          const error = await call().then(
            () => undefined,
            (reason: unknown) => reason,
          );
          equal(error instanceof HedgerowError ? kindOf(error) : String(error), code, message);
        },
      });
      await remote.remove([headName(branch)]);
    },
  };
}

/** Returns bytes that no other call of this function returns. */
let states = 0;
function state(length = 200): Uint8Array {
  const bytes = new Uint8Array(length);
  let mixed = ++states * 2654435761 + Date.now();
  for (let at = 0; at < length; at++) {
    mixed = (Math.imul(mixed, 1664525) + 1013904223) | 0;
    bytes[at] = mixed >>> 24;
  }
  return bytes;
}

/** Returns the token of a swap that must succeed. */
function tokenOf(swap: Swap): string {
  if (swap.state === 'swapped') return swap.token;
  const why = swap.state === 'unknown' ? `: ${swap.cause}` : '';
  throw new Error(`the swap is ${swap.state}${why}`);
}

/** Puts an object of noise; returns its name and bytes. */
async function putNoise(remote: Remote, length: number, letter: 'p' | 'd' = 'p') {
  const bytes = state(length);
  const name = hashedName(letter, bytes);
  await remote.put(name, bytes);
  return { name, bytes };
}

const heads: readonly RemoteCase[] = [
  fact('a missing head is undefined', async ({ remote, branch, equal }) => {
    equal(await remote.readHead(branch), undefined, 'read');
    equal(await remote.readHeadSince(branch, '"1"'), undefined, 'read since a token');
  }),
  fact('a read returns a created head with its token', async (scene) => {
    const { remote, make, branch, equal, same } = scene;
    const bytes = state();
    const token = tokenOf(await remote.swapHead(branch, undefined, bytes));
    for (const client of [remote, make()]) {
      const head = await client.readHead(branch);
      same(head?.bytes, bytes, 'the bytes');
      equal(head?.token, token, 'the token');
    }
  }),
  fact('a head may be empty, and of the largest size', async (scene) => {
    const { remote, branch, maxHeadBytes, same } = scene;
    const token = tokenOf(await remote.swapHead(branch, undefined, new Uint8Array()));
    same((await remote.readHead(branch))?.bytes, new Uint8Array(), 'empty');
    const bytes = state(maxHeadBytes);
    await remote.swapHead(branch, token, bytes);
    same((await remote.readHead(branch, { pastCaches: true }))?.bytes, bytes, 'the largest');
  }),
  fact('a head that is too large is refused', async (scene) => {
    const { remote, branch, maxHeadBytes, rejects, equal } = scene;
    const bytes = new Uint8Array(maxHeadBytes + 1);
    await rejects(() => remote.swapHead(branch, undefined, bytes), 'invalid-argument', 'swap');
    equal(await remote.readHead(branch), undefined, 'after it');
  }),
  fact('a swap replaces the head of its token, and no other', async (scene) => {
    const { remote, branch, equal, same } = scene;
    const [one, two] = [state(), state()];
    const first = tokenOf(await remote.swapHead(branch, undefined, one));
    const second = tokenOf(await remote.swapHead(branch, first, two));
    scene.assert(first !== second, 'the token is another');
    for (const token of [first, undefined, '"0123456789abcdef0123456789abcdef"']) {
      const lost = await remote.swapHead(branch, token, state());
      equal(lost.state, 'lost', `by ${token}`);
      const head = (lost as { head?: RemoteHead }).head;
      same(head?.bytes, two, 'the head that stands');
      equal(head?.token, second, 'its token');
    }
    same((await remote.readHead(branch))?.bytes, two, 'the head after all');
  }),
  fact('an unchanged head is not sent again', async ({ remote, branch, equal, same }) => {
    const [one, two] = [state(), state()];
    const first = tokenOf(await remote.swapHead(branch, undefined, one));
    equal(await remote.readHeadSince(branch, first), 'unchanged', 'at once');
    const second = tokenOf(await remote.swapHead(branch, first, two));
    const head = await remote.readHeadSince(branch, first);
    same(typeof head === 'object' ? head.bytes : undefined, two, 'after a swap');
    equal(await remote.readHeadSince(branch, second), 'unchanged', 'since that');
  }),
  fact('a head has the time of its write, and never an earlier one', async (scene) => {
    const { remote, branch, assert } = scene;
    let token = tokenOf(await remote.swapHead(branch, undefined, state()));
    let beforeMs = 0;
    for (let round = 0; round < 3; round++) {
      const { modifiedMs = 0 } = (await remote.readHead(branch)) ?? {};
      assert(modifiedMs >= beforeMs && modifiedMs > 0, `${modifiedMs} follows ${beforeMs}`);
      beforeMs = modifiedMs;
      token = tokenOf(await remote.swapHead(branch, token, state()));
    }
  }),
  fact('a deleted head is gone for its token, and can be made again', async (scene) => {
    const { remote, branch, rejects, equal } = scene;
    const token = tokenOf(await remote.swapHead(branch, undefined, state()));
    await remote.remove([headName(branch)]);
    equal(await remote.readHead(branch), undefined, 'read');
    await rejects(() => remote.swapHead(branch, token, state()), 'remote/gone', 'swap');
    equal((await remote.swapHead(branch, undefined, state())).state, 'swapped', 'made again');
  }),
  fact('branches with similar names are separate', async ({ remote, branch, same }) => {
    const names = ['', '/..', '/', '%', '%2f', ' ', '+', '?a=b', '#', 'é', '🌿', '&amp;', '.'];
    const written = new Map<string, Uint8Array>();
    for (const end of [...names, branch.toLowerCase(), branch.toUpperCase()]) {
      written.set(branch + end, state());
    }
    for (const [name, bytes] of written) tokenOf(await remote.swapHead(name, undefined, bytes));
    for (const [name, bytes] of written) same((await remote.readHead(name))?.bytes, bytes, name);
    const listed = new Set((await remote.list('h/')).map(({ name }) => name));
    for (const name of written.keys()) scene(listed.has(headName(name)), `${name} is listed`);
    await remote.remove([...written.keys()].map(headName));

    function scene(condition: boolean, message: string) {
      if (!condition) throw new Error(message);
    }
  }),
];

const objects: readonly RemoteCase[] = [
  fact('a missing object is undefined', async ({ remote, equal }) => {
    const name = hashedName('p', state());
    equal(await remote.get(name), undefined, 'whole');
    equal(await remote.get(name, { from: 0, to: 10 }), undefined, 'a range');
  }),
  fact('an object is read as it was put, twice too', async ({ remote, make, equal, same }) => {
    for (const [letter, length] of [
      ['p', 0],
      ['d', 1],
      ['p', 100_000],
      ['d', 3_000_000],
    ] as const) {
      const { name, bytes } = await putNoise(remote, length, letter);
      equal(await make().put(name, bytes), 'put', 'a second time');
      same(await make().get(name), bytes, `${length} bytes`);
    }
  }),
  fact('a range returns the bytes that exist in it', async ({ remote, same }) => {
    const { name, bytes } = await putNoise(remote, 10_000);
    const ranges = [
      [0, 1],
      [0, 10_000],
      [9999, 10_000],
      [17, 4711],
      [9000, 20_000],
    ] as const;
    for (const [from, to] of ranges) {
      same(await remote.get(name, { from, to }), bytes.slice(from, to), `${from} to ${to}`);
    }
    for (const from of [10_000, 10_001, 1_000_000]) {
      same(await remote.get(name, { from, to: from + 5 }), new Uint8Array(), `from ${from} on`);
    }
  }),
  fact('malformed names and ranges are refused', async ({ remote, rejects }) => {
    const hash = '0'.repeat(64);
    const names = [
      '',
      'p/',
      'x',
      `p/${hash}0`,
      `p/${'A'.repeat(64)}`,
      `../../../p/${hash}`,
      'h/main',
    ];
    for (const name of [...names, `p/${hash}/`, `q/${hash}`, `P/${hash}`]) {
      await rejects(() => remote.get(name), 'invalid-argument', `get ${name}`);
      await rejects(() => remote.put(name, new Uint8Array()), 'invalid-argument', `put ${name}`);
    }
    await rejects(() => remote.remove([`p/${hash}`, '..']), 'invalid-argument', 'remove ..');
    await rejects(() => remote.readHead(''), 'invalid-argument', 'no branch');
    await rejects(() => remote.readHead('\ud800'), 'invalid-argument', 'half a pair');
    await rejects(() => remote.readHead('x'.repeat(201)), 'invalid-argument', 'too long');
    for (const [from, to] of [
      [0, 0],
      [5, 4],
      [-1, 4],
      [0.5, 2],
      [0, Number.NaN],
      [0, 1e9],
    ] as const) {
      await rejects(
        () => remote.get(`p/${hash}`, { from, to }),
        'invalid-argument',
        `${from}, ${to}`,
      );
    }
    const large = new Uint8Array(MAX_OBJECT_BYTES + 1);
    await rejects(() => remote.put(`p/${hash}`, large), 'invalid-argument', 'too large');
  }),
  fact('a removed object is gone, and can be removed again', async ({ remote, equal }) => {
    const put = [await putNoise(remote, 10), await putNoise(remote, 20, 'd')];
    const names = put.map(({ name }) => name);
    await remote.remove(names);
    for (const name of names) equal(await remote.get(name), undefined, name);
    await remote.remove(names);
    await remote.remove([]);
  }),
  fact(
    'a list has each object with its length and age',
    async ({ remote, branch, equal, assert }) => {
      await remote.swapHead(branch, undefined, state());
      const head = await remote.readHead(branch);
      const put = [
        await putNoise(remote, 10),
        await putNoise(remote, 20),
        await putNoise(remote, 30, 'd'),
      ];
      for (const { name, bytes } of put) {
        const listed = await remote.list(name.startsWith('p') ? 'p/' : 'd/');
        const found = listed.filter((one) => one.name === name);
        equal(found.length, 1, `${name} is listed once`);
        equal(found[0]?.length, bytes.length, 'its length');
        const age = Math.abs((found[0]?.modifiedMs ?? 0) - (head?.modifiedMs ?? 0));
        assert(age < 60_000, `it is as old as the head, within ${age} ms`);
        assert(
          listed.every((one) => one.name[0] === name[0]),
          'of one kind only',
        );
      }
      await remote.remove(put.map(({ name }) => name));
    },
  ),
  fact('only the first write of hedgerow counts', async ({ remote, make, equal, same }) => {
    await remote.remove(['hedgerow']);
    const [one, two] = [state(), state()];
    equal(await remote.put('hedgerow', one), 'put', 'the first');
    equal(await make().put('hedgerow', two), 'exists', 'the second');
    same(await make().get('hedgerow'), one, 'what stands');
    await remote.remove(['hedgerow']);
    const all = await Promise.all(Array.from({ length: 8 }, () => make().put('hedgerow', state())));
    equal(all.filter((how) => how === 'put').length, 1, 'of 8 at a time');
  }),
];

const WRITERS = 32;

const races: readonly RemoteCase[] = [
  fact('of 32 swaps at a time exactly one succeeds, for each token', async (scene) => {
    const { make, branch, equal, same } = scene;
    const clients = Array.from({ length: WRITERS }, make);
    let token: string | undefined;
    for (let round = 0; round < 4; round++) {
      const written = clients.map(() => state());
      const swaps = await Promise.all(
        clients.map((client, at) => client.swapHead(branch, token, written[at] as Uint8Array)),
      );
      const won = swaps.findIndex((swap) => swap.state === 'swapped');
      const count = swaps.filter((swap) => swap.state === 'swapped').length;
      const states = swaps.map((swap) => swap.state).join();
      equal(count, 1, `round ${round}, ${states}`);
      same((await scene.remote.readHead(branch))?.bytes, written[won] as Uint8Array, 'the winner');
      token = tokenOf(swaps[won] as Swap);
    }
  }),
  fact('8 writers that count lose no step, and each token has one winner', async (scene) => {
    const { make, branch, equal } = scene;
    const [writers, steps] = [8, 6];
    const won: string[] = [];
    const count = async (client: Remote, writer: number) => {
      for (let step = 0; step < steps; ) {
        const head = await client.readHead(branch);
        const text = new TextDecoder().decode(head?.bytes);
        const mine = `${text} ${writer}:${step}`;
        const swap = await client.swapHead(branch, head?.token, new TextEncoder().encode(mine));
        if (swap.state === 'unknown') {
          const now = new TextDecoder().decode((await client.readHead(branch))?.bytes);
          if (!now.split(' ').includes(`${writer}:${step}`)) continue;
        } else if (swap.state === 'lost') continue;
        else won.push(head?.token ?? 'none');
        step++;
      }
    };
    await Promise.all(Array.from({ length: writers }, (_, at) => count(make(), at)));
    equal(new Set(won).size, won.length, 'tokens that were replaced once');
    const text = new TextDecoder().decode((await scene.remote.readHead(branch))?.bytes);
    const all = text.trim().split(' ');
    equal(new Set(all).size, writers * steps, 'different steps');
    equal(all.length, writers * steps, 'steps');
  }),
];

const rest: readonly RemoteCase[] = [
  fact('a call whose signal is aborted rejects, and has no effect', async (scene) => {
    const { remote, branch, rejects, equal } = scene;
    const aborted = { signal: AbortSignal.abort() };
    const bytes = state();
    const name = hashedName('p', bytes);
    const calls: readonly (() => Promise<unknown>)[] = [
      () => remote.readHead(branch, aborted),
      () => remote.readHeadSince(branch, '"1"', aborted),
      () => remote.swapHead(branch, undefined, bytes, aborted),
      () => remote.put(name, bytes, aborted),
      () => remote.get(name, undefined, aborted),
      () => remote.remove([name], aborted),
      () => remote.list('p/', aborted),
    ];
    for (const [at, call] of calls.entries()) await rejects(call, 'aborted', `call ${at}`);
    equal(await remote.readHead(branch), undefined, 'the head');
    equal(await remote.get(name), undefined, 'the object');
  }),
  fact('the probe finds the remote safe, and leaves no objects', async ({ remote, equal }) => {
    const before = (await remote.list('h/')).filter(({ name }) => name.startsWith('h/probe-'));
    await probeRemote(remote);
    const after = (await remote.list('h/')).filter(({ name }) => name.startsWith('h/probe-'));
    equal(after.length, before.length, 'heads of probes');
  }),
];

export const remoteContract: readonly RemoteCase[] = [...heads, ...objects, ...races, ...rest];
