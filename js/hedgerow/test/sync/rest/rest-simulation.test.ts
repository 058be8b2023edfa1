/**
 * Devices and a server of plain rows, over a network that loses requests and answers, by a seed. Devices crash at any
 * write of their storage, and the server changes rows by itself. Each edit of a device sets its own field to a higher
 * number: so a lost or reverted edit shows. When the faults end, every device has the server's rows, with the last
 * acknowledged edit of each device and key.
 */
import { expect, it } from 'vitest';
import { HedgerowError, memory, open, type Storage, type Store } from '../../../src/index.js';
import { type RestConnection, type RestPushRequest, rest } from '../../../src/sync/rest/index.js';
import { RestDouble } from '../../support/doubles/rest-server.js';
import { watched } from '../../support/doubles/watched-storage.js';
import { kindOf } from '../../support/error-kind.js';
import { forSeeds, hasAllSeeds } from '../../support/property.js';
import type { Random } from '../../support/random.js';
import { rowsOf } from '../../support/worlds/sync-devices.js';

const totals = {
  edits: 0,
  own: 0,
  pulls: 0,
  pushes: 0,
  lostRequests: 0,
  lostAnswers: 0,
  stale: 0,
  crashes: 0,
};
const KEYS = ['a', 'b', 'c', 'd'];

type Row = Record<string, number>;

class Device {
  readonly #from: Random;
  readonly #server: RestDouble;
  readonly #storage: Storage;
  /** Writes until it crashes. */
  #writes = Number.POSITIVE_INFINITY;
  #isLossy = true;
  #db: Store | undefined;
  #link: RestConnection | undefined;
  readonly #field: string;
  /** The last acknowledged edit of each key here. */
  readonly edits = new Map<string, number>();

  constructor(from: Random, server: RestDouble, field: string) {
    this.#field = field;
    this.#from = from;
    this.#server = server;
    const write = () => {
      this.#writes -= 1;
      if (this.#writes < 0) throw new HedgerowError('unavailable/disconnected', 'a crash');
    };
    this.#storage = watched(memory(), { write });
  }

  async link(): Promise<RestConnection> {
    this.#db ??= await open('app', { storage: this.#storage });
    this.#link ??= await this.#db.connect(
      rest({
        pull: (request) => this.#sent(() => this.#server.pull(request)),
        push: (request: RestPushRequest) =>
          this.#sent(() => this.#server.push(structuredClone(request))),
      }),
    );
    return this.#link;
  }

  async #sent<T>(call: () => T): Promise<T> {
    const chance = this.#isLossy ? this.#from.below(10) : 9;
    if (chance === 0) {
      totals.lostRequests += 1;
      throw new TypeError('Failed to fetch: the request was lost');
    }
    const answer = call();
    if (chance > 2) return answer;
    totals.lostAnswers += 1;
    throw new TypeError('Failed to fetch: the answer was lost');
  }

  async edit(nth: number): Promise<void> {
    const key = this.#from.pick(KEYS);
    await this.link();
    await this.#db?.transaction(async (tx) => {
      tx.put(key, { ...(await tx.get<Row>(key)), [this.#field]: nth });
    });
    this.edits.set(key, nth);
    totals.edits += 1;
  }

  async rows(): Promise<Record<string, unknown>> {
    await this.link();
    return rowsOf(this.#db as Store);
  }

  /** Runs `step`, after which storage may fail: then the device starts again. */
  async may(step: () => Promise<unknown>): Promise<void> {
    if (this.#from.below(4) === 0) this.#writes = this.#from.below(6);
    try {
      await step();
    } catch (cause) {
      if (!(cause instanceof HedgerowError)) throw cause;
      expect(['offline', 'unavailable/disconnected', 'conflict']).toContain(kindOf(cause));
    }
    const hasCrashed = this.#writes < 0;
    this.#writes = Number.POSITIVE_INFINITY;
    if (!hasCrashed) return;
    totals.crashes += 1;
    await this.#db?.close().catch(() => {});
    this.#db = undefined;
    this.#link = undefined;
  }

  async settle(): Promise<void> {
    this.#isLossy = false;
    const link = await this.link();
    await link.pull();
    await link.push();
  }

  async close(): Promise<void> {
    await this.#db?.close();
  }
}

async function simulate(
  from: Random,
  _seed: number,
  begin: (what: unknown) => void,
): Promise<void> {
  const server = new RestDouble();
  const own = new Map<string, number>();
  const devices = Array.from(
    { length: 1 + from.below(3) },
    (_, at) => new Device(from, server, `device${at}`),
  );
  for (let nth = 0; nth < 30; nth++) {
    const at = from.below(devices.length);
    const device = devices[at] as Device;
    const kind = from.below(10);
    begin({ nth, at, kind });
    if (kind < 4) await device.may(() => device.edit(nth));
    else if (kind < 6) await device.may(async () => (await device.link()).pull());
    else if (kind < 9) await device.may(async () => (await device.link()).push());
    else {
      const key = from.pick(KEYS);
      server.set({ [key]: { ...(server.rows[key] as Row | undefined), own: nth } });
      own.set(key, nth);
      totals.own += 1;
    }
  }
  // Twice: the edits of the last device reach the first in the second round.
  for (let round = 0; round < 2; round++) for (const device of devices) await device.settle();
  const { rows } = server;
  for (const [at, device] of devices.entries()) {
    expect(await device.rows()).toEqual(rows);
    for (const [key, nth] of device.edits)
      expect(rows[key]).toMatchObject({ [`device${at}`]: nth });
    await device.close();
  }
  for (const [key, nth] of own) expect(rows[key]).toMatchObject({ own: nth });
  totals.pulls += server.requests.pull;
  totals.pushes += server.requests.push;
  totals.stale += server.requests.stale;
}

it('devices of all seeds lose no edit and end with the rows of the server', async () => {
  const seeds = await forSeeds(200, simulate);
  console.log(`rest, ${seeds.length} seeds: ${JSON.stringify(totals)}`);
  // Without each of these the simulation is meaningless.
  if (hasAllSeeds(500))
    for (const total of Object.values(totals)) expect(total).toBeGreaterThan(10);
});
