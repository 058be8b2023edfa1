// The other device: a store in memory of this process, which edits and pushes rows that the page edits, too.

import { randomBytes } from 'node:crypto';
import { clone, memory } from 'hedgerow';
import { remoteKeys } from 'hedgerow/encryption';
import { bucket, httpRemote } from 'hedgerow/sync';
import { pause } from '../../../lib/engines/limits.mjs';
import { below } from '../random.mjs';
import { BASE, numbered, SHARED, SHARED_KEYS } from './keys.mjs';

export const ROWS = 12_000;
export const BLOCK_ROWS = 100;
/** Bytes of a row; deflating saves half of them. */
const TEXT_BYTES = 900;
const POLL_MS = 10;
/** The time between two pushes, in milliseconds: at least half of it. */
const PAUSES_MS = { clone: 300, pull: 180, push: 180, checkpoint: 3000 };

const rowOf = (id) => ({ id, text: randomBytes(TEXT_BYTES).toString('hex') });
const blockOf = (block, id) =>
  Array.from({ length: BLOCK_ROWS }, (_, nth) => [
    numbered(BASE, block * BLOCK_ROWS + nth),
    rowOf(id),
  ]);

/** Puts the rows that a remote begins with. */
export async function putFirst(db) {
  const rows = Array.from({ length: ROWS / BLOCK_ROWS }, (_, block) =>
    blockOf(block, `first ${block}`),
  );
  await db.putMany(rows.flat());
}

export class Other {
  db;
  connection;
  #edits;
  #random;
  #next = 1;
  #isOver = true;
  #working = Promise.resolve();

  /** Clones the remote at `url`. */
  static async open(url, { key, policy, edits, random }) {
    const encryption = key && remoteKeys({ place: 'room', keys: () => Uint8Array.from(key) });
    const place = bucket(httpRemote({ url }), { probe: false, policy, encryption });
    const made = await clone('other', place, { storage: memory() });
    return Object.assign(new Other(edits, random), made);
  }

  constructor(edits, random) {
    this.#edits = edits;
    this.#random = random;
  }

  /**
   * Edits and pushes until it is stopped, while the page is in this phase. `progress` counts the page's steps: each
   * push waits for one, so that a page on a busy machine does not lose every race.
   */
  start(phase, progress) {
    this.#isOver = false;
    const half = PAUSES_MS[phase] / 2;
    // A commit of many rows has its own object, which pulls read.
    const isMany = () => phase === 'pull' && below(this.#random, 2) === 0;
    const work = async () => {
      while (!this.#isOver) {
        await (isMany() ? this.#writeBlock() : this.#edit());
        await this.connection.push();
        const before = progress();
        await pause(half + below(this.#random, half));
        while (!this.#isOver && progress() === before) await pause(POLL_MS);
      }
    };
    this.#working = work();
    // `stop` reports it.
    this.#working.catch(() => {});
  }

  /** Stops after the current step; rejects with its failure. */
  async stop() {
    this.#isOver = true;
    await this.#working;
  }

  /** Edits once, and pushes. */
  async editOnce() {
    await this.#edit();
    await this.connection.push();
  }

  async #edit() {
    const id = `other ${this.#next++}`;
    const key = numbered(SHARED, below(this.#random, SHARED_KEYS));
    const isDeletion = below(this.#random, 7) === 0;
    await this.db.transaction(async (tx) => {
      const before = (await tx.get(key))?.id;
      this.#edits.begun(id, { key, before, isDeletion, by: 'other' });
      if (isDeletion) tx.delete(key);
      else tx.put(key, { id, text: id });
    });
    this.#edits.acknowledged(id);
  }

  async #writeBlock() {
    const id = `other ${this.#next++}`;
    const block = below(this.#random, ROWS / BLOCK_ROWS);
    const key = numbered(BASE, block);
    const before = (await this.db.get(numbered(BASE, block * BLOCK_ROWS))).id;
    this.#edits.begun(id, { key, before, by: 'other' });
    await this.db.putMany(blockOf(block, id));
    this.#edits.acknowledged(id);
  }

  /** Returns both sides of each conflict in its log. */
  async conflicts() {
    const found = [];
    for await (const { ours, theirs } of this.connection.conflicts()) {
      found.push([ours?.id ?? null, theirs?.id ?? null]);
    }
    return found;
  }
}
