/** Wrong results and exceptions of an app's request functions: no row counts as taken, and no mistake is `offline`. */
import { afterEach, describe, expect, it } from 'vitest';
import { HedgerowError, memory, open, type Store } from '../../../src/index.js';
import { mutators } from '../../../src/sync/mutators/index.js';
import { memoryRemote } from '../../../src/sync/remote/index.js';
import { rest } from '../../../src/sync/rest/index.js';
import { ofKind } from '../../support/error-kind.js';

// biome-ignore lint/suspicious/noExplicitAny: answers that TypeScript refuses
type Any = any;

const opened: Store[] = [];
afterEach(async () => {
  for (const db of opened.splice(0)) await db.close();
});

let names = 0;
async function store(): Promise<Store> {
  const db = await open(`answers ${names++}`, { storage: memory() });
  opened.push(db);
  return db;
}

const EMPTY = { cookie: 1, patch: [] };

async function bound(endpoints: { pull?: Any; push?: Any }) {
  const db = await store();
  const link = await db.connect(rest({ pull: () => EMPTY, push: () => undefined, ...endpoints }));
  await db.put('b', 1);
  return { db, link };
}

const caught = (call: Promise<unknown>) =>
  call.then(
    (value) => expect.fail(`it has resolved to ${JSON.stringify(value)}`),
    (cause: unknown) => cause,
  );

const NO_CONSENT: Record<string, () => unknown> = {
  'false, as of response.ok': () => false,
  true: () => true,
  'a number': () => 200,
  'a text': () => 'ok',
  'a status and data, as of axios': () => ({ status: 500, data: {} }),
  'responses in a list, as of Promise.all': () => [new Response('', { status: 500 })],
  'an error object': () => ({ error: 'denied' }),
  'an exception as a value': () => new Error('denied'),
  'a map': () => new Map([['refused', []]]),
  'a body with errors, as of GraphQL': () =>
    Response.json({ data: null, errors: [{ message: 'denied' }] }),
  'a body that is not ok': () => Response.json({ ok: false }),
  'a body with an error': () => Response.json({ error: { code: 5 } }),
  'a body that is false': () => Response.json(false),
  'a body that is a list': () => Response.json([]),
  'a body that is a text': () => Response.json('ok'),
};
const CONSENT: Record<string, () => unknown> = {
  nothing: () => undefined,
  null: () => null,
  'an empty object': () => ({}),
  'none refused': () => ({ refused: [] }),
  'a response without a body': () => new Response(null, { status: 204 }),
  'an empty body': () => new Response(''),
  'a body that is null': () => Response.json(null),
  'a body with other members': () => Response.json({ took: 5, refused: [] }),
};

describe('a push of rows', () => {
  it.each(Object.entries(NO_CONSENT))('is not taken by %s', async (_, push) => {
    const { link } = await bound({ push });
    expect(await caught(link.push())).toMatchObject({ code: 'remote', detail: 'response' });
    expect(await link.isPending()).toBe(true);
  });

  it.each(Object.entries(CONSENT))('is taken by %s', async (_, push) => {
    const { link } = await bound({ push });
    expect(await link.push()).toEqual({ accepted: 1, refused: 0 });
    expect(await link.isPending()).toBe(false);
  });
});

const THROWN = [
  new Error('title is too long'),
  new TypeError("Cannot read properties of undefined (reading 'rows')"),
  new RangeError('out'),
  'a text',
  undefined,
  { code: 'EACCES' },
];
const OFFLINE = [
  new TypeError('Failed to fetch'),
  new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } }),
  new TypeError('NetworkError when attempting to fetch resource.'),
  new TypeError('Load failed'),
  new TypeError('Network request failed'),
  Object.assign(new Error('Network Error'), { code: 'ERR_NETWORK' }),
  Object.assign(new Error('timeout of 1000ms exceeded'), { code: 'ECONNABORTED' }),
  Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' }),
  new DOMException('The operation timed out.', 'TimeoutError'),
];

describe('an exception of the function', () => {
  it('passes unchanged, and is not offline', async () => {
    for (const thrown of THROWN) {
      const failing = async () => {
        throw thrown;
      };
      const { link } = await bound({ push: failing, pull: failing });
      expect(await caught(link.push())).toBe(thrown);
      expect(await caught(link.pull())).toBe(thrown);
      const db = await store();
      const app = await db.connect(
        mutators({
          mutators: { add: (_: unknown, _amount: number) => {} },
          pull: failing,
          push: failing,
        }),
      );
      await app.mutate.add(1);
      expect(await caught(app.push())).toBe(thrown);
      expect(await caught(app.pull())).toBe(thrown);
    }
  });

  it('is offline if it comes from the network', async () => {
    for (const thrown of OFFLINE) {
      const failing = async () => {
        throw thrown;
      };
      const { link } = await bound({ push: failing, pull: failing });
      const expected = { code: 'offline', retryable: true, cause: thrown };
      expect(await caught(link.push())).toMatchObject(expected);
      expect(await caught(link.pull())).toMatchObject(expected);
    }
  });

  it('is reported by a loop, which is failing', async () => {
    const thrown = new Error('title is too long');
    const states: Any[] = [];
    const { link } = await bound({
      push: async () => {
        throw thrown;
      },
    });
    link.subscribe(() => void states.push(link.state));
    link.start();
    await expect.poll(() => states.some(({ status }) => status === 'failing')).toBe(true);
    await link.stop();
    const { error } = states.find(({ status }) => status === 'failing');
    expect(error).toBeInstanceOf(HedgerowError);
    expect(error).toMatchObject({ code: 'remote', detail: 'response', cause: thrown });
    expect(error.message).toContain('title is too long');
  });
});

describe('an answer of a pull', () => {
  it('is refused if JSON would lose a part, as in a patch', async () => {
    const values = [
      Number.NaN,
      new Map(),
      new Set(),
      new Uint8Array(2),
      5n,
      Number.POSITIVE_INFINITY,
    ];
    for (const value of values) {
      const patch = [{ op: 'put', key: 'a', value: { n: value } }];
      const { db, link } = await bound({ pull: () => ({ cookie: 1, patch }) });
      const error = await caught(link.pull());
      expect(error).toMatchObject({
        ...ofKind('invalid-argument/value'),
        pointer: '/patch/0/value/n',
      });
      expect(await db.get('a')).toBeUndefined();
    }
  });

  it('is a bad response if it is malformed', async () => {
    for (const answer of [
      5,
      'text',
      true,
      [],
      new Map(),
      { rows: [] },
      { cookie: 1, patch: [], more: 1 },
    ]) {
      const { link } = await bound({ pull: () => answer });
      expect(await caught(link.pull())).toMatchObject({ code: 'remote', detail: 'response' });
    }
    const db = await store();
    for (const answer of [undefined, null, 5, {}, [], 'text']) {
      const endpoint = (async () => answer) as Any;
      const app = await db.connect(
        mutators({
          mutators: { add: (_: unknown, _amount: number) => {} },
          pull: endpoint,
          push: endpoint,
        }),
      );
      await app.mutate.add(1);
      expect(await caught(app.pull())).toMatchObject({ code: 'remote', detail: 'response' });
      expect(await caught(app.push())).toMatchObject({ code: 'remote', detail: 'response' });
      await app.close();
    }
  });

  it('does not acknowledge calls of mutators if it has errors', async () => {
    const db = await store();
    for (const body of [{ errors: [{ message: 'denied' }] }, { ok: false }, { error: 'denied' }]) {
      const app = await db.connect(
        mutators({
          mutators: { add: (_: unknown, _amount: number) => {} },
          pull: () => Response.json({ cookie: 1, lastMutationIDChanges: {}, patch: [] }),
          push: () => Response.json(body),
        }),
      );
      await app.mutate.add(1);
      expect(await caught(app.push())).toMatchObject({ code: 'remote', detail: 'response' });
      await app.close();
    }
  });
});

it('a value that is no transport is refused by name', async () => {
  const db = await store();
  for (const none of [undefined, null, 5, {}, { kind: 'other' }, memoryRemote()] as Any[]) {
    expect(await caught(db.connect(none))).toMatchObject({
      ...{ ...ofKind('invalid-argument'), message: expect.stringContaining('bucket()') },
    });
  }
  for (const none of [rest(undefined as Any), mutators(undefined as Any)]) {
    expect(await caught(db.connect(none as Any))).toMatchObject(ofKind('invalid-argument'));
  }
});
