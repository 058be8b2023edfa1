/** Rows that are bytes already, from a response to the store. */
import type { Contestant, Sample, Setting, Suite } from '../bench-case.js';
import { timed } from '../measure.js';
import { openHedgerow, openStore } from '../peers/hedgerow.js';
import { inTransaction, openIndexedDb } from '../peers/raw.js';
import { makeRows } from '../rows.js';

const BLOCK_BYTES = 1 << 20;

type Shape = 'ndjson' | 'json';

/** Serves a body from a URL, without a network in between. */
async function withUrl<T>(
  { rows }: Setting,
  shape: Shape,
  use: (url: string) => Promise<T>,
): Promise<T> {
  const made = makeRows(rows);
  const text =
    shape === 'json'
      ? JSON.stringify(made)
      : made.map((row) => `${JSON.stringify(row)}\n`).join('');
  const url = URL.createObjectURL(new Blob([text]));
  try {
    return await use(url);
  } finally {
    URL.revokeObjectURL(url);
  }
}

async function putBytes(setting: Setting, shape: Shape, isFile = false): Promise<Sample> {
  return withUrl(setting, shape, async (url) => {
    const store = await openStore();
    const file = isFile ? await (await fetch(url)).blob() : undefined;
    const { ms, result } = await timed(async () =>
      store.putMany(file ?? (await fetch(url)), { key: '/id' }),
    );
    await store.close();
    if (result.rows !== setting.rows) throw new Error(`${result.rows} rows`);
    const { slices, longestSliceMs, storageMs } = result.stats;
    const details = {
      slices,
      'longest slice, ms': longestSliceMs,
      'waiting for storage, ms': storageMs,
    };
    return { value: ms, details };
  });
}

/** Reads the stream, and puts its bytes in values of 1 MiB. */
async function floor(setting: Setting): Promise<Sample> {
  return withUrl(setting, 'ndjson', async (url) => {
    const db = await openIndexedDb();
    const { ms } = await timed(async () => {
      const { body } = await fetch(url);
      const reader = (body as ReadableStream<Uint8Array>).getReader();
      let block = new Uint8Array(BLOCK_BYTES);
      let [length, key] = [0, 0];
      const writing: Promise<unknown>[] = [];
      const flush = () => {
        const bytes = block.slice(0, length);
        const at = key++;
        writing.push(inTransaction(db, 'blocks', 'relaxed', (store) => store.put(bytes, at)));
        length = 0;
      };
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        for (let at = 0; at < value.length; ) {
          const part = value.subarray(at, at + BLOCK_BYTES - length);
          block.set(part, length);
          length += part.length;
          at += part.length;
          if (length === BLOCK_BYTES) flush();
        }
      }
      flush();
      await Promise.all(writing);
      block = new Uint8Array();
    });
    db.close();
    return { value: ms };
  });
}

/** Puts the same rows as objects, which exist already or are parsed first. */
async function putObjects(setting: Setting, parse: boolean): Promise<Sample> {
  return withUrl(setting, 'json', async (url) => {
    const db = await openHedgerow({});
    const rows = makeRows(setting.rows);
    const { ms } = await timed(async () =>
      db.load(parse ? ((await (await fetch(url)).json()) as typeof rows) : rows),
    );
    await db.close();
    return { value: ms };
  });
}

function contestant(
  name: string,
  kind: Contestant['kind'],
  sample: (setting: Setting) => Promise<Sample>,
): Contestant {
  return { name, kind, acts: [async (setting) => ({ bytes: await sample(setting) })] };
}

export const BYTES: Suite = {
  name: 'bytes',
  cases: [{ name: 'bytes', title: 'all rows as NDJSON, from a response', unit: 'ms' }],
  contestants: [
    contestant('hedgerow', 'ours', (setting) => putBytes(setting, 'ndjson')),
    contestant('floor', 'floor', floor),
    contestant('hedgerow, one array', 'variant', (setting) => putBytes(setting, 'json')),
    contestant('hedgerow, a file', 'variant', (setting) => putBytes(setting, 'ndjson', true)),
    contestant('hedgerow, objects', 'variant', (setting) => putObjects(setting, false)),
    contestant('hedgerow, response.json()', 'variant', (setting) => putObjects(setting, true)),
  ],
};
