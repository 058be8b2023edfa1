/** A clone over connections with cuts at bytes of a seed; the test counts the bytes that travel twice. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { serveRemote } from '../../../../server/src/serve-remote.js';
import { hex } from '../../../src/base/hex.js';
import { HedgerowError, memory, open, type Store } from '../../../src/index.js';
import { bucket } from '../../../src/sync/link/bucket.js';
import { httpRemote, memoryRemote, type Remote } from '../../../src/sync/remote/index.js';
import { forSeeds, isDeep } from '../../support/property.js';
import type { Random } from '../../support/random.js';

const [ROWS, CUTS] = isDeep ? [14_000, 1000] : [4000, 60];
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** A line to a server: it counts the bytes of answers, and cuts after certain ones. */
class Line {
  sentBytes = 0;
  cuts = 0;
  readonly #cutsAt: number[];
  readonly #from: Random;
  readonly #sockets = new Set<Socket>();

  constructor(from: Random, cutsAt: readonly number[]) {
    this.#from = from;
    this.#cutsAt = cutsAt.toSorted((a, b) => b - a);
  }

  async to(port: number): Promise<string> {
    const server = createServer((near) => {
      const far = connect(port, '127.0.0.1');
      for (const socket of [near, far]) {
        this.#sockets.add(socket.on('error', () => {}));
        socket.on('close', () => {
          this.#sockets.delete(socket);
          for (const other of [near, far]) other.destroy();
        });
      }
      near.pipe(far);
      far.on('data', (bytes: Buffer) => this.#send(near, far, bytes));
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    ends.push(() => {
      for (const socket of this.#sockets) socket.destroy();
      server.close();
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  }

  #send(near: Socket, far: Socket, bytes: Buffer): void {
    if (near.destroyed) return;
    const left = (this.#cutsAt.at(-1) ?? Number.POSITIVE_INFINITY) - this.sentBytes;
    if (bytes.length < left) {
      this.sentBytes += bytes.length;
      far.pause();
      near.write(bytes, () => far.resume());
      return;
    }
    this.sentBytes += left;
    this.#cutsAt.pop();
    this.cuts += 1;
    far.removeAllListeners('data');
    far.pause();
    const isHard = this.#from.next() < 0.5;
    near.write(bytes.subarray(0, left), () => (isHard ? near.resetAndDestroy() : near.end()));
  }
}

async function published(from: Random, rows: number): Promise<{ remote: Remote; db: Store }> {
  const remote = memoryRemote();
  const db = await open('from', { storage: memory() });
  await db.putMany(
    Array.from({ length: rows }, (_, nth): [string, unknown] => [
      `k${String(nth).padStart(6, '0')}`,
      hex(from.bytes(1000)),
    ]),
  );
  await (await db.connect(bucket(remote, { probe: false }))).push();
  ends.push(() => db.close());
  return { remote, db };
}

/** Clones over a line; pulls again when it is offline. */
async function cloneOver(line: Line, port: number) {
  const db = await open('to', { storage: memory() });
  ends.push(() => db.close());
  const link = await db.connect(bucket(httpRemote({ url: await line.to(port) }), { probe: false }));
  for (let pulls = 1; ; pulls++) {
    try {
      await link.pull();
      return { db, pulls };
    } catch (cause) {
      if (!(cause instanceof HedgerowError && cause.code === 'offline')) throw cause;
    }
  }
}

it('a clone with cuts at random bytes fetches at most 64 KiB twice for each cut', () =>
  forSeeds(1, async (from) => {
    const { remote, db } = await published(from, ROWS);
    const server = await serveRemote(remote);
    ends.push(() => server.close());
    const port = Number(new URL(server.url).port);
    const whole = new Line(from, []);
    const first = await cloneOver(whole, port);
    const cutsAt = Array.from({ length: CUTS }, () => from.below(whole.sentBytes));
    const line = new Line(from, cutsAt);
    const { db: cloned, pulls } = await cloneOver(line, port);
    const twice = (line.sentBytes - whole.sentBytes) / line.cuts;
    console.info(
      `${line.cuts} cuts, ${pulls} pulls, ${whole.sentBytes} bytes, ${twice.toFixed(0)} twice for each`,
    );
    expect(line.cuts).toBeGreaterThan(0.98 * CUTS);
    expect(twice).toBeLessThan(64 << 10);
    for (const one of [first.db, cloned]) {
      expect(one.root).toBe(db.root);
      expect(await one.health.verify()).toMatchObject({ ok: true, rows: ROWS });
    }
  }));
