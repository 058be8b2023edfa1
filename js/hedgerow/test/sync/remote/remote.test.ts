/** Remotes that run everywhere: the contract in memory, names, the probe, and faults by seed. */
import { assert, describe, expect, it } from 'vitest';
import {
  hashedName,
  headName,
  memoryRemote,
  parseName,
  probeRemote,
  type Remote,
} from '../../../src/sync/remote/index.js';
import { remoteContract } from '../../support/contracts/remote-contract.js';
import { faultyRemote, type RemoteFault } from '../../support/doubles/faulty-remote.js';
import { kindOf } from '../../support/error-kind.js';

const bytes = (text: string) => new TextEncoder().encode(text);

describe('memoryRemote()', () => {
  const shared = memoryRemote();
  for (const { name, run } of remoteContract) it(name, () => run(() => shared, assert));
});

describe('faultyRemote() without faults', () => {
  const shared = faultyRemote(memoryRemote(), { seed: 1, chances: {} });
  for (const { name, run } of remoteContract) it(name, () => run(() => shared, assert));
});

describe('names of objects', () => {
  const branches = [
    'main',
    'Main',
    'a/b',
    '..',
    '.',
    '%',
    '%41',
    'é',
    '🌿',
    'con',
    'x'.repeat(200),
    "'()*!~",
  ];

  it('have one spelling, of lower case, and are parsed back', () => {
    for (const branch of branches) {
      const name = headName(branch);
      expect(name).toMatch(/^h\/[a-z0-9_%-]+$/);
      expect(parseName(name)).toEqual({ kind: 'head', branch });
    }
    expect(new Set(branches.map((branch) => headName(branch).toLowerCase())).size).toBe(
      branches.length,
    );
  });

  it('are refused in any other spelling', () => {
    const hash = 'a'.repeat(64);
    const others = [
      'h/Main',
      'h/%6dain',
      'h/%C3%A9',
      'h/%c3',
      'h/%zz',
      'h/',
      'h/a/b',
      'h/..',
      `h/${'x'.repeat(201)}`,
    ];
    for (const name of [
      ...others,
      '',
      'hedgerow/',
      'Hedgerow',
      `p/${hash}/`,
      `/p/${hash}`,
      `p/${hash}\n`,
    ]) {
      expect([name, parseName(name)]).toEqual([name, undefined]);
    }
    expect(parseName(`p/${hash}`)).toEqual({ kind: 'pack', hash });
    expect(parseName(`d/${hash}`)).toEqual({ kind: 'delta', hash });
    expect(parseName('hedgerow')).toEqual({ kind: 'config' });
  });

  it('are the BLAKE3 of the bytes of a pack', () => {
    // The first two vectors of BLAKE3.
    expect(hashedName('p', new Uint8Array())).toBe(
      'p/af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262',
    );
    expect(hashedName('d', new Uint8Array(1))).toBe(
      'd/2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213',
    );
  });
});

/** A remote that keeps all but one rule. */
function lying(change: (inner: Remote) => Partial<Remote>): Remote {
  const inner = memoryRemote();
  return { ...inner, ...change(inner) };
}
async function always(inner: Remote, branch: string, state: Uint8Array) {
  const head = await inner.readHead(branch);
  return inner.swapHead(branch, head?.token, state);
}

describe('probeRemote()', () => {
  const liars: readonly [string, RegExp, (inner: Remote) => Partial<Remote>][] = [
    [
      'ignores If-None-Match',
      /creation of a head that exists/,
      (inner) => ({
        swapHead: (branch, token, state) =>
          token === undefined ? always(inner, branch, state) : inner.swapHead(branch, token, state),
      }),
    ],
    [
      'ignores If-Match',
      /wrong token/,
      (inner) => ({
        swapHead: (branch, token, state) =>
          token === undefined ? inner.swapHead(branch, token, state) : always(inner, branch, state),
      }),
    ],
    [
      'remembers old tokens',
      /older token/,
      (inner) => {
        const known = new Set<string | undefined>([undefined]);
        return {
          async swapHead(branch, token, state) {
            const head = await inner.readHead(branch);
            const isKnown = known.has(token) && (token !== undefined || head === undefined);
            const swap = await inner.swapHead(branch, isKnown ? head?.token : token, state);
            if (swap.state === 'swapped') known.add(swap.token);
            return swap;
          },
        };
      },
    ],
    [
      'checks, and writes later',
      /of 8 replacements by one token at a time, 8 were granted/,
      (inner) => ({
        async swapHead(branch, token, state) {
          const head = await inner.readHead(branch);
          if (head?.token !== token) return { state: 'lost', head };
          await new Promise((resolve) => setTimeout(resolve, 5));
          return always(inner, branch, state);
        },
      }),
    ],
    [
      'refuses everything',
      /refuses the creation/,
      () => ({ swapHead: async () => ({ state: 'lost', head: undefined }) }),
    ],
    [
      'loses what it grants',
      /is not the one that is read/,
      (inner) => ({
        readHead: async (branch) => {
          const head = await inner.readHead(branch);
          return head && { ...head, bytes: bytes('other') };
        },
      }),
    ],
  ];
  for (const [what, message, change] of liars) {
    it(`refuses a store that ${what}`, async () => {
      const remote = lying(change);
      await expect(probeRemote(remote)).rejects.toMatchObject({
        code: 'remote',
        detail: 'unsafe',
        message: expect.stringMatching(message),
        retryable: false,
      });
      expect(await remote.list('h/')).toEqual([]);
    });
  }

  it('reports a failing network, and no verdict', async () => {
    const remote = faultyRemote(memoryRemote(), { seed: 1, chances: { offline: 1 } });
    await expect(probeRemote(remote)).rejects.toMatchObject({ code: 'offline', retryable: true });
  });
});

describe('faultyRemote()', () => {
  const CHANCES: Readonly<Record<RemoteFault, number>> = {
    ...{ offline: 0.05, cut: 0.05, flipped: 0.05, refused: 0.05, conflict: 0.05 },
    ...{ lost: 0.05, landed: 0.1, stale: 0.1, missing: 0.05 },
  };

  /** Counts to 40 over a remote with all faults; returns its steps. */
  async function play(seed: number) {
    const inner = memoryRemote({ now: () => 0 });
    const remote = faultyRemote(inner, { seed, chances: CHANCES });
    const done: string[] = [];
    const note = (what: string, call: Promise<unknown>) =>
      call.then(
        (value) => done.push(`${what} ${JSON.stringify(value)}`),
        (error: { code: string }) => done.push(`${what} ${kindOf(error)}`),
      );
    const object = bytes('an object');
    const name = hashedName('p', object);
    await inner.put(name, object);
    for (let step = 0; step < 40; step++) {
      const head = await inner.readHead('main');
      await note('swap', remote.swapHead('main', head?.token, bytes(`state ${step}`)));
      await note('read', remote.readHead('main'));
      await note('get', remote.get(name));
      await note('put', remote.put(name, object));
    }
    return { done, counts: [...remote.counts].sort() };
  }

  it('fails in the same way for the same seed, and in another way for another', async () => {
    expect(await play(7)).toEqual(await play(7));
    expect((await play(7)).done).not.toEqual((await play(8)).done);
  });

  it('has each fault, and loses no swap that it reports', async () => {
    const seen = new Set<string>();
    for (let seed = 1; seed <= 20; seed++) {
      for (const [fault] of (await play(seed)).counts) seen.add(String(fault));
    }
    expect([...seen].sort()).toEqual(Object.keys(CHANCES).sort());
  });

  it('applies a write whose answer is lost', async () => {
    const inner = memoryRemote();
    const remote = faultyRemote(inner, { seed: 1, chances: { landed: 1 } });
    const swap = await remote.swapHead('main', undefined, bytes('one'));
    expect(swap).toMatchObject({ state: 'unknown', cause: { code: 'offline' } });
    expect((await inner.readHead('main'))?.bytes).toEqual(bytes('one'));
    remote.heal();
    expect((await remote.swapHead('main', undefined, bytes('two'))).state).toBe('lost');
  });
});
