/** Every options object and range of the public API: each wrong member is refused by name. */
import { describe, expect, it } from 'vitest';
import type { SumTree } from '../../src/engine/sums/sum-tree.js';
import {
  destroy,
  HedgerowError,
  importStore,
  memory,
  open,
  repairStore,
  type Store,
  type Transaction,
  verifyStore,
} from '../../src/index.js';
import { verifyProof } from '../../src/store/verify-row-proof.js';
import { kindOf, ofKind } from '../support/error-kind.js';
import { all, type Entry, expectSame } from '../support/models/store-model.js';

const ROWS: Entry[] = [
  ['a', { s: 1 }],
  ['b', { s: 2 }],
  ['c', Uint8Array.of(3)],
];
const INDEXES = { s: { path: '/s' } };

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

const throws = {
  valueOf() {
    throw new Error('valueOf was called');
  },
};

/** Values that are neither an object of options nor a range. */
const NO_OPTIONS: readonly unknown[] = [
  ...[null, 'text', '', 5, 5n, true, Symbol('s'), () => ({}), [], ['a'], new Map(), new Date()],
  ...[Promise.resolve({}), revoked()],
];

const NO_NUMBER = [null, '5', 5n, Number.NaN, {}, throws, Symbol('5'), [5], revoked()];
const NO_FUNCTION = [null, 5, 'f', {}, Symbol('f'), revoked()];
const NO_BOOLEAN = [null, 0, 1, 'true', 'false', {}, 1n, Symbol('b')];

/** Values that a member of that name must not have. */
const BAD: Record<string, readonly unknown[]> = {
  signal: [null, {}, 'abort', 5, true, { aborted: false }, Symbol('s'), revoked()],
  durability: [null, 'Strict', '', 'none', 1, true, {}, Symbol('strict'), revoked()],
  format: [null, 'csv', 'JSON', 5, {}, Symbol('json')],
  limit: [...NO_NUMBER, -1, 0.5, 1.5, Number.NEGATIVE_INFINITY],
  commitEvery: [...NO_NUMBER, 0, -1, 0.5, 1.5],
  sliceMs: [...NO_NUMBER, 0, -1, Number.POSITIVE_INFINITY],
  cacheBytes: [...NO_NUMBER, -1, 2 ** 31],
  onProgress: NO_FUNCTION,
  onConflict: NO_FUNCTION,
  onError: NO_FUNCTION,
  onDeleted: NO_FUNCTION,
  onIndexProgress: NO_FUNCTION,
  reverse: NO_BOOLEAN,
  initial: NO_BOOLEAN,
  wait: NO_BOOLEAN,
  mustExist: NO_BOOLEAN,
  dropOtherIndexes: NO_BOOLEAN,
  salvage: NO_BOOLEAN,
  index: [null, 5, {}, ['s'], Symbol('s'), 'none'],
  storage: [null, {}, 'memory', memory, 5, revoked()],
  indexes: [null, 5, 'byS', [], [{ path: '/s' }], { a: null }, { a: 5 }, { a: {} }, revoked()],
  sums: [null, 5, 't', [], { t: null }, { t: 5 }, { t: {} }, { t: { sum: 5 } }],
  branches: [null, 5, 'main', {}],
};
/** In a range of rows these are `invalid-argument/key`, as they are everywhere. */
const BOUNDS = ['prefix', 'gt', 'gte', 'lt', 'lte'];
/** Members that select rows: undefined would mean all of them. */
const CONDITIONS = [...BOUNDS, 'index', 'equals'];
const NO_KEYS = [null, {}, 5, 5n, Symbol('k'), ['a', 'b'], revoked()];

interface Call {
  readonly name: string;
  /** The members that its options, or its range, may have. */
  readonly members: string;
  /** The members that it needs next to a bad or undefined one. */
  readonly base?: object;
  run(db: Store, options: never, tree: SumTree): unknown;
}

const storage = memory();
const inside = (db: Store, body: (tx: Transaction) => unknown) => db.transaction(body);
const RANGE = 'prefix gt gte lt lte';
const SCAN = `${RANGE} index wait reverse limit signal`;
const ORDER = `${RANGE} index wait reverse signal`;
const COUNT = `${RANGE} index wait signal`;
const LEAF = { value: Uint8Array.of(1), sum: 1n };
const BOUND = { prefix: 'none' };

const calls: Record<string, [members: string, run: Call['run'], base?: object]> = {
  open: [
    'indexes storage durability',
    async (_, options) => (await open('other', options)).close(),
    { storage: memory() },
  ],
  'open, its advanced options': [
    'dropOtherIndexes onIndexProgress sums sliceMs cacheBytes mustExist onDeleted',
    async (_, advanced) => (await open('other', { storage: memory(), advanced })).close(),
  ],
  destroy: ['storage', (_, options) => destroy('other', options), { storage: memory() }],
  verifyStore: [
    'storage signal onProgress',
    (_, options) => verifyStore('test', options),
    { storage },
  ],
  repairStore: [
    'storage salvage signal onProgress',
    (_, how) => repairStore('test', how),
    { storage },
  ],
  importStore: [
    'storage durability sliceMs signal onProgress',
    async (db, options) => importStore('copy', await exported(db), options),
    { storage: memory() },
  ],
  'db.scan': [SCAN, (db, options) => db.scan(options).toArray()],
  'db.scan, its keys': [SCAN, (db, options) => db.scan(options).keys().toArray()],
  'db.scan, by hand': [
    SCAN,
    async (db, options) => db.scan(options)[Symbol.asyncIterator]().next(),
  ],
  'db.count': [COUNT, (db, options) => db.count(options)],
  'db.at': [ORDER, (db, options) => db.at(0, options)],
  'db.rank': [ORDER, (db, options) => db.rank('b', options)],
  'snapshot.scan': [SCAN, (db, options) => db.snapshot().scan(options).toArray()],
  'snapshot.count': [COUNT, (db, options) => db.snapshot().count(options)],
  'tx.scan': [SCAN, (db, options) => inside(db, (tx) => tx.scan(options).toArray())],
  'tx.scan with own edits': [
    SCAN,
    (db, options) =>
      inside(db, (tx) => {
        tx.put('b', { s: 2 });
        return tx.scan(options).toArray();
      }),
  ],
  'tx.count': [COUNT, (db, options) => inside(db, (tx) => tx.count(options))],
  'tx.at': [ORDER, (db, options) => inside(db, (tx) => tx.at(0, options))],
  'tx.rank': [ORDER, (db, options) => inside(db, (tx) => tx.rank('b', options))],
  'db.prove': [RANGE, (db, options) => db.prove(options)],
  verifyProof: [RANGE, async (db, range) => verifyProof(db.root, range, await db.prove({}))],
  'db.diff': [`${RANGE} signal`, (db, how) => db.history.diff(db.root, db.root, how).toArray()],
  'db.changes': [`${RANGE} signal`, (db, options) => db.history.since(db.root, options).toArray()],
  'db.watch, its range': [`${RANGE} index`, (db, options) => db.watch(options, () => {})()],
  'db.watch, its options': [
    'initial signal onError',
    (db, options) => db.watch({}, () => {}, options)(),
  ],
  'db.deleteMany, its range': [
    `${RANGE} index wait`,
    (db, options) => db.deleteMany(options),
    BOUND,
  ],
  'db.deleteMany, its options': [
    'signal durability',
    (db, options) => db.deleteMany(['x'], options),
  ],
  'tx.deleteMany': [
    `${RANGE} index`,
    (db, options) => inside(db, (tx) => tx.deleteMany(options)),
    BOUND,
  ],
  'db.putMany': [
    'prefix format signal onProgress durability',
    (db, options) => db.putMany([['a', { s: 1 }]], options),
  ],
  'db.applyPatch': [
    'format signal onProgress durability',
    (db, options) => db.applyPatch([{ op: 'delete', key: 'x' }], options),
  ],
  'db.transaction': ['signal durability', (db, options) => db.transaction(() => {}, options)],
  'db.commit': ['signal durability keep', (db, options) => db.history.commit(() => {}, options)],
  'db.revert': [
    'onConflict durability signal',
    (db, options) => db.history.revert(db.root, db.root, options),
  ],
  'db.writer': ['commitEvery durability', (db, options) => db.writer(options).abort()],
  'db.branch': ['', async (db, options) => (await db.branches.open('draft', options)).close()],
  'db.merge': [
    'onConflict durability signal',
    (db, options) => db.branches.merge('draft', options),
  ],
  'db.verify': ['signal onProgress', (db, options) => db.health.verify(options)],
  'db.repair': ['salvage signal onProgress', (db, options) => db.health.repair(options)],
  'db.export': [
    'branches signal',
    async (db, options) => (await db.backup.export(options)).close(),
  ],
  'sumTree.entries': ['signal', (_, options, tree) => tree.entries(options).toArray()],
  'sumTree.put': ['signal durability', (_, options, tree) => tree.put('k', LEAF, options)],
  'sumTree.putMany': [
    'signal durability onProgress',
    (_, options, tree) => tree.putMany([], options),
  ],
  'sumTree.deleteMany': [
    'signal durability',
    (_, options, tree) => tree.deleteMany(['k'], options),
  ],
  'sumTree.delete': ['signal durability', (_, options, tree) => tree.delete('k', options)],
};

/** Members without bad values in this test, with the calls that have them. */
const OTHERS = new Map<string, RegExp>(
  Object.entries({
    key: /^(db|sumTree)\.putMany/,
    from: /branch|export|entries/,
    equals: /scan|count|deleteMany, its range|tx.deleteMany|watch, its range/,
  }),
);

function isRevoked(value: unknown): boolean {
  try {
    Array.isArray(value);
    return false;
  } catch {
    return true;
  }
}

async function exported(db: Store): Promise<Blob> {
  return new Response((await db.backup.export()).stream()).blob();
}

async function scene(): Promise<Store> {
  await destroy('test', { storage });
  const db = await open('test', { storage, indexes: INDEXES });
  await db.putMany(ROWS);
  await (await db.branches.open('draft')).close();
  expect(await db.count({ index: 's' })).toBe(2);
  return db;
}

const shown = (value: unknown) =>
  isRevoked(value) ? 'a revoked proxy' : Object.prototype.toString.call(value);

async function refusal(
  db: Store,
  run: Call['run'],
  options: unknown,
  what: string,
): Promise<HedgerowError> {
  try {
    await run(db, options as never, db.sumTree('t'));
  } catch (error) {
    expect(error, `${what}: ${String(error)}`).toBeInstanceOf(HedgerowError);
    return error as HedgerowError;
  }
  return expect.fail(`${what} was taken`);
}

describe.each(Object.entries(calls))('%s', (call, [list, run, base = {}]) => {
  const members = list.split(' ').filter(Boolean);

  it('refuses a value that is no plain object, and changes no row', async () => {
    const db = await scene();
    const { root } = db;
    const others = NO_OPTIONS.filter((options) => {
      // Deletions also take keys in place of a range, and proofs take a key.
      const isKeys = /deleteMany$|deleteMany, its range/.test(call) && !isRevoked(options);
      if (isKeys && (Array.isArray(options) || options instanceof Map)) return false;
      return !(/[pP]ro(ve|of)$/.test(call) && typeof options === 'string');
    });
    for (const options of others) {
      const error = await refusal(db, run, options, shown(options));
      expect(kindOf(error), `${shown(options)}: ${error.message}`).toBe('invalid-argument');
    }
    expect(db.root).toBe(root);
    expectSame(await all(db), ROWS);
    await db.close();
  });

  it('refuses unknown members by name', async () => {
    const db = await scene();
    const { root } = db;
    const strange = [
      'offset',
      'Prefix',
      'perfix',
      'start',
      'toString',
      'constructor',
      '__proto__x',
    ];
    const elsewhere = [...Object.keys(BAD), ...BOUNDS, ...OTHERS.keys()];
    for (const name of [...strange, ...elsewhere]) {
      if (members.includes(name) || OTHERS.get(name)?.test(call)) continue;
      const error = await refusal(db, run, { ...base, [name]: 'x' }, name);
      expect(kindOf(error), `${name}: ${error.message}`).toBe('invalid-argument');
      expect(error.message).toContain(name);
    }
    expect(db.root).toBe(root);
    await db.close();
  });

  it.each(members.map((name) => [name]))(
    'refuses a %s of the wrong kind, by name',
    async (name) => {
      const db = await scene();
      const { root } = db;
      const isBound = BOUNDS.includes(name);
      for (const value of isBound ? NO_KEYS : (BAD[name] ?? [])) {
        const what = `${name}: ${shown(value)}`;
        const error = await refusal(db, run, { ...base, [name]: value }, what);
        const codes = isBound ? ['invalid-argument/key', 'invalid-argument'] : ['invalid-argument'];
        expect(codes, `${what}: ${error.message}`).toContain(kindOf(error));
        if (name !== 'indexes' && name !== 'sums') expect(error.message).toContain(name);
      }
      expect(db.root).toBe(root);
      // Refusals are no traps of the core: the second trap in a row closes a store.
      expectSame(await all(db), ROWS);
      await db.close();
    },
  );

  it('takes undefined members as absent, except for conditions', async () => {
    const db = await scene();
    // The prefix of a load belongs to the new keys.
    const isCondition = (name: string) => CONDITIONS.includes(name) && !/putMany/.test(call);
    const none: Record<string, undefined> = {};
    for (const name of [...members, 'strange']) {
      if (!isCondition(name)) none[name] = undefined;
      else {
        const error = await refusal(db, run, { ...base, [name]: undefined }, `${name}: undefined`);
        expect(kindOf(error)).toBe('invalid-argument');
        expect(error.message).toContain(name);
      }
    }
    await run(db, { ...none, ...base } as never, db.sumTree('t'));
    expectSame(await all(db), ROWS);
    await db.close();
  });
});

describe('other arguments', () => {
  const strange: readonly unknown[] = [null, 5, 5n, Symbol('x'), {}, () => 'x', revoked()];
  const takes: Record<string, (db: Store, given: never) => unknown> = {
    'the name that is opened': (_, name) => open(name, { storage }),
    'the name that is destroyed': (_, name) => destroy(name, { storage }),
    'the name that is verified': (_, name) => verifyStore(name, { storage }),
    'the name that is repaired': (_, name) => repairStore(name, { storage }),
    'the name that is imported': (db, name) => importStore(name, new Blob([db.root]), { storage }),
    'the root of changes': (db, root) => db.history.since(root).toArray(),
    'the first root of a diff': (db, root) => db.history.diff(root, db.root).toArray(),
    'the second root of a diff': (db, root) => db.history.diff(db.root, root).toArray(),
    'the root of a proof': (_, root) => verifyProof(root, 'a', new Uint8Array()),
    'where a branch forks': (db, from) => db.branches.open('new', { from }),
    'what is reset to': (db, target) => db.branches.reset(target),
    'the root before a revert': (db, root) => db.history.revert(root, db.root),
    'the root after a revert': (db, root) => db.history.revert(db.root, root),
    'the function of a commit': (db, body) => db.history.commit(body),
    'what is merged': (db, branch) => db.branches.merge(branch),
    'the branch that is opened': (db, name) => db.branches.open(name),
    'the branch that is deleted': (db, name) => db.branches.delete(name),
    'the branch that is switched to': (db, name) => db.branches.switchTo(name),
    'the keys of getMany': (db, keys) => db.getMany(keys),
    'the keys of tx.getMany': (db, keys) => inside(db, (tx) => tx.getMany(keys)),
    'the keys of tx.deleteMany': (db, keys) => inside(db, (tx) => tx.deleteMany(keys)),
    'the keys of a sum tree': (db, keys) => db.sumTree('t').getMany(keys),
    'the keys that a sum tree proves': (db, keys) => db.sumTree('t').proveMany(keys),
    'the name of a sum tree': (db, name) => db.sumTree(name).root,
    'the rows of putMany': (db, rows) => db.putMany(rows),
    'the patch of applyPatch': (db, patch) => db.applyPatch(patch),
    'the keys of deleteMany': (db, keys) => db.deleteMany(keys),
    'the leaves of a sum tree': (db, leaves) => db.sumTree('t').putMany(leaves),
    'the callback of a watch': (db, callback) => db.watch({}, callback),
    'the function of a transaction': (db, body) => db.transaction(body),
  };

  it.each(Object.entries(takes))('%s: other values are refused', async (name, run) => {
    const db = await scene();
    const { root } = db;
    const isFunction = /callback|function/.test(name);
    for (const given of strange) {
      if (isFunction && typeof given === 'function') continue;
      const error = await refusal(db, run, given, shown(given));
      expect(kindOf(error), `${shown(given)}: ${error.message}`).toBe('invalid-argument');
    }
    if (/keys/.test(name)) {
      const error = await refusal(db, run, 'text', 'a text in place of keys');
      expect(kindOf(error)).toBe('invalid-argument');
    }
    expect(db.root).toBe(root);
    expectSame(await all(db), ROWS);
    await db.close();
  });

  it('a name that is no well-formed text is refused', async () => {
    await expect(open('\ud800', { storage })).rejects.toMatchObject(ofKind('invalid-argument'));
  });

  it('an index range in place of a key range is refused, and so is equals without an index', async () => {
    const db = await scene();
    const range = { index: 's', equals: 1 } as never;
    for (const call of [
      () => db.history.since(db.root, range).toArray(),
      () => db.history.diff(db.root, db.root, range).toArray(),
      () => db.prove(range),
      () => db.count({ equals: 1 } as never),
      () => db.scan({ equals: 1 } as never).toArray(),
    ]) {
      await expect(call()).rejects.toMatchObject(ofKind('invalid-argument'));
    }
    await db.close();
  });
});
