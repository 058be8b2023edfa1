// Runs the servers of the suites of sync in their own thread, so that they do not hold up the wire: Hedgerow's
// reference server, the feed of the peers, and the device that changes rows behind the page's back.

import { fileURLToPath } from 'node:url';
import { parentPort } from 'node:worker_threads';
import { serveRemote } from '@hedgerow/server';
import { memory, open } from 'hedgerow';
import { remoteKeys } from 'hedgerow/encryption';
import { bucket, httpRemote, memoryRemote } from 'hedgerow/sync';
import { runnerImport } from 'vite';
import { Feed, serveFeed } from './feed.mjs';

const ROWS = fileURLToPath(new URL('../../page/rows.ts', import.meta.url));

let place;
let feed;
let feedPort;
let changes = 0;

async function end() {
  await place?.db?.close();
  await place?.server.close();
  place = undefined;
}

async function serve() {
  await end();
  const server = await serveRemote(memoryRemote(), { origin: '*' });
  place = { server };
  return new URL(server.url).port;
}

const calls = {
  /** Starts an empty remote. */
  empty: async () => ({ remote: Number(await serve()) }),

  /** Starts a remote with that many rows, pushed by another device, and encrypted if there is a key. */
  full: async (count, key) => {
    if (place?.count === count && String(place.key) === String(key))
      return { remote: Number(new URL(place.server.url).port) };
    const remote = Number(await serve());
    const { module } = await runnerImport(ROWS);
    const db = await open('other device', { storage: memory() });
    await db.putMany(module.rowsInTurn(count), { key: '/id' });
    const encryption = key && remoteKeys({ place: 'room', keys: () => Uint8Array.from(key) });
    const remoteOf = httpRemote({ url: place.server.url });
    const link = await db.connect(bucket(remoteOf, { probe: false, encryption }));
    await link.push();
    place = { ...place, db, link, key, count, all: count };
    return { remote };
  },

  /** Starts a feed with that many rows, for requests of the kind `wanted` (`ndjson`, `replicache` or `couch`). */
  feed: async (count, wanted) => {
    await end();
    const { module } = await runnerImport(ROWS);
    feed = new Feed();
    feed.put(module.rowsInTurn(count));
    feedPort ??= await serveFeed(() => feed);
    // Made before any page waits for it.
    feed[wanted]({ cookie: null });
    return { remote: feedPort };
  },

  /** Changes `count` rows, evenly spread, on the other device, which pushes them. */
  change: async (count) => {
    const { db, link, all } = place;
    const rows = await changed(count, all);
    await db.putMany(rows, { key: '/id' });
    await link.push();
    const endMs = now();
    // The next clone needs an unchanged remote.
    place.count = undefined;
    return { endMs, rows };
  },

  /** Changes rows in the feed in the same way. */
  changeFeed: async (count, all) => {
    const rows = await changed(count, all);
    feed.put(rows);
    return { rows };
  },
};

async function changed(count, all) {
  const { module } = await runnerImport(ROWS);
  changes += 1;
  return Array.from({ length: count }, (_, nth) => {
    const at = (Math.floor((nth * all) / count) + changes * 7) % all;
    return {
      id: module.idOf(at),
      title: `changed ${changes} times`,
      status: 'merged',
      owner: 'ann',
      modified: 1_800_000_000_000 + changes,
    };
  });
}

const now = () => performance.timeOrigin + performance.now();

parentPort.on('message', async ({ id, name, args }) => {
  try {
    parentPort.postMessage({ id, result: await calls[name](...args) });
  } catch (error) {
    parentPort.postMessage({ id, error: String(error?.stack ?? error) });
  }
});
