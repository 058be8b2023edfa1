// The surroundings of a page that syncs: a remote over HTTP, the driver, which gets the page's reports, and the other
// device.

import { createServer } from 'node:http';
import { serveRemote } from '@hedgerow/server';
import { memory, open } from 'hedgerow';
import { remoteKeys } from 'hedgerow/encryption';
import { bucket, memoryRemote } from 'hedgerow/sync';
import { Edits } from './edits.mjs';
import { Gate } from './gate.mjs';
import { Other, putFirst } from './other.mjs';

export const KEY = Array.from({ length: 32 }, (_, at) => (7 * at) % 256);

/** Remotes with the first rows; all rounds get the same objects. */
const firstRemotes = new Map();
function firstRemote(key) {
  const kind = key === undefined ? 'plain' : 'encrypted';
  const make = async () => {
    const remote = memoryRemote();
    const db = await open('first', { storage: memory() });
    await putFirst(db);
    const encryption = key && remoteKeys({ place: 'room', keys: () => Uint8Array.from(key) });
    const link = await db.connect(bucket(remote, { probe: false, encryption }));
    await link.push();
    await db.close();
    return remote;
  };
  if (!firstRemotes.has(kind)) firstRemotes.set(kind, make());
  return firstRemotes.get(kind);
}

async function copyOf(remote) {
  const copy = memoryRemote();
  const names = (await Promise.all(['p/', 'd/'].map((prefix) => remote.list(prefix)))).flat();
  for (const name of ['hedgerow', ...names.map((object) => object.name)]) {
    await copy.put(name, await remote.get(name));
  }
  await copy.swapHead('main', undefined, (await remote.readHead('main')).bytes);
  return copy;
}

export class World {
  /** The remote of the page; the other device uses the same remote at another address. */
  gate;
  edits = new Edits();
  other;
  /** The addresses of the remote and the driver for the page. */
  urls;
  /** The numbers of the page's next edit, and of its last acknowledged one. */
  next = 1;
  last = 0;
  failures = [];
  #calls = new Map();
  #current;
  #waiting;
  #servers = [];

  static async open({ isEncrypted, policy, random }) {
    const world = new World();
    const key = isEncrypted ? KEY : undefined;
    const remote = await copyOf(await firstRemote(key));
    world.gate = new Gate(remote, random);
    const serve = (one) => serveRemote(one, { origin: '*' });
    const [near, far] = [await serve(world.gate.remote), await serve(remote)];
    const driver = createServer((request, response) => world.#hear(request, response));
    await new Promise((resolve) => driver.listen(0, '127.0.0.1', resolve));
    world.#servers.push(near, far, {
      close: () => {
        driver.closeAllConnections();
        driver.close();
      },
    });
    world.urls = { remote: near.url, driver: `http://127.0.0.1:${driver.address().port}/` };
    world.other = await Other.open(far.url, { key, policy, edits: world.edits, random });
    return world;
  }

  /** The page's current work, between its begin and its end: the name of a call, or `edit`. */
  get current() {
    return this.#current;
  }

  /** Resolves when the page has begun a call of this name for the `nth` time from now on. */
  called(name, nth) {
    return new Promise((resolve) => {
      this.#waiting = { name, left: nth, resolve };
    });
  }

  /** Forgets the page, which is gone. */
  forget() {
    this.#current = undefined;
    this.#waiting = undefined;
  }

  async close() {
    // Failures while everything ends do not matter.
    await this.other?.stop().catch(() => {});
    await this.other?.db.close();
    for (const server of this.#servers) await server.close();
  }

  #hear(request, response) {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (part) => {
      text += part;
    });
    request.on('end', () => {
      try {
        this.#take(JSON.parse(text));
      } catch (cause) {
        this.failures.push(`${text}: ${cause.message}`);
      }
      response.writeHead(204, { 'Access-Control-Allow-Origin': '*' });
      response.end();
    });
  }

  #take([kind, ...rest]) {
    const [name, key, before, isDeletion] = rest;
    if (kind === 'failed') this.failures.push(name);
    if (kind === 'called') {
      this.#current = name;
      this.#calls.set(name, (this.#calls.get(name) ?? 0) + 1);
      if (this.#waiting?.name === name && --this.#waiting.left === 0) this.#waiting.resolve();
    }
    if (kind === 'returned') this.#current = undefined;
    if (kind === 'begun') {
      this.#current = 'edit';
      this.next = numberOf(name) + 1;
      this.edits.begun(name, { key, before: before ?? undefined, isDeletion, by: 'page' });
    }
    if (kind === 'acknowledged') {
      this.#current = undefined;
      this.last = numberOf(name);
      this.edits.acknowledged(name);
    }
  }
}

const numberOf = (id) => Number(id.split(' ')[1]);
