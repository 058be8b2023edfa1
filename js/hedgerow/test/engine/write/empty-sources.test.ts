/** Sources without members, and sources whose members differ in kind from the first. */
import { describe, expect, it } from 'vitest';
import { failure, refuses, storeOf } from '../../support/models/store-model.js';

const nothing = async function* (): AsyncGenerator<Uint8Array> {};

const EMPTY: Record<string, () => unknown> = {
  'an empty array': () => [],
  'an empty Set': () => new Set(),
  'an empty generator': () => [].values(),
  'an empty async generator': () => nothing(),
  'an array of an empty part': () => [new Uint8Array()],
  'an empty Uint8Array': () => new Uint8Array(),
  'an empty ArrayBuffer': () => new ArrayBuffer(0),
  'an empty Blob': () => new Blob([]),
  'a response with an empty text': () => new Response(''),
  'the body of a response with an empty text': () => new Response('').body,
  'a response without a body': () => new Response(null, { status: 204 }),
};

describe.each(Object.entries(EMPTY))('%s', (_, source) => {
  it.each(['ndjson', 'json', undefined] as const)('in the format %s is empty', async (format) => {
    const db = await storeOf([['a', { id: 'a' }]]);
    const { root } = db;
    const how = format === undefined ? {} : { format };
    const put = await db.putMany(source() as Blob, { key: '/id', ...how });
    const patch = await db.applyPatch(source() as Blob, how);
    expect([put.rows, patch.rows]).toEqual([0, 0]);
    expect(db.root).toBe(root);
  });
});

it('rows that are objects take no format', async () => {
  const db = await storeOf([['a', 1]]);
  const invalid = failure('invalid-argument');
  await refuses(db, () => db.putMany([['b', 1]], { format: 'json' }), invalid);
  const rows = async function* () {
    yield ['b', 1] as const;
  };
  await refuses(db, () => db.putMany(rows(), { format: 'ndjson' }), invalid);
  await refuses(db, () => db.applyPatch([{ op: 'clear' }], { format: 'json' }), invalid);
});

describe('a source of bytes with a member of another kind', () => {
  const bytes = new TextEncoder().encode('{"id":"b"}\n');
  const parts: Record<string, (part: unknown) => unknown> = {
    'an array': (part) => [bytes, part],
    'an async generator': (part) =>
      (async function* () {
        yield bytes;
        yield part;
      })(),
    'a stream': (part) =>
      new ReadableStream({
        start(controller) {
          controller.enqueue(bytes);
          controller.enqueue(part);
          controller.close();
        },
      }),
  };
  it.each(Object.entries(parts))('%s is refused', async (_, source) => {
    const db = await storeOf([['a', 1]]);
    for (const part of ['{"id":"c"}\n', null, undefined, 5, {}, [1, 2], { length: 3 }]) {
      const load = () => db.putMany(source(part) as Blob, { key: '/id' });
      await refuses(db, load, failure('invalid-argument'));
    }
  });
});
