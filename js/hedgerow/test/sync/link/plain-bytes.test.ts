/** A few bytes at a remote may inflate to many: the number that a device has in memory at once. */
import { expect, it } from 'vitest';
import type { HedgerowError } from '../../../src/index.js';
import { contextOf } from '../../../src/sync/link/open-bucket-connection.js';
import { deflate, type Inflate, inflate } from '../../../src/sync/remote/format/deflate.js';
import { decodeDeltaBody, encodeDeltaBody } from '../../../src/sync/remote/format/delta-body.js';
import { MAX_PLAIN_DELTA_BYTES } from '../../../src/sync/remote/format/format-limits.js';
import { memoryRemote } from '../../../src/sync/remote/index.js';
import { kindOf } from '../../support/error-kind.js';
import { type Device, device, rowsOf } from '../../support/worlds/sync-devices.js';

/** Counts the bytes that a device asks to inflate, and has not yet read to their end. */
class Counted {
  #alive = 0;
  most = 0;
  longest = 0;
  all = 0;

  constructor({ link }: Device) {
    const { tools } = contextOf(link);
    const { inflate } = tools;
    const counted: Inflate = (bytes, length) => {
      // At the call: it may work ahead of its reader.
      this.#alive += length;
      this.all += length;
      this.most = Math.max(this.most, this.#alive);
      this.longest = Math.max(this.longest, length);
      return this.#read(inflate(bytes, length), length);
    };
    Object.assign(tools, { inflate: counted });
  }

  async *#read(parts: AsyncIterable<Uint8Array>, length: number) {
    try {
      yield* parts;
    } finally {
      this.#alive -= length;
    }
  }
}

/** A row that deflates to very few bytes. */
const long = (nth: number) => ({ nth, text: 'abcdefgh'.repeat(32 << 10) });
const PUSHES = 12;

async function pushLong({ db, link }: Device): Promise<void> {
  for (let nth = 0; nth < PUSHES; nth++) {
    await db.put('long', long(nth));
    await link.push();
  }
}

it('a device inflates the entries of a tail one after the other', async () => {
  const remote = memoryRemote();
  const [writer, reader] = [await device(remote), await device(remote)];
  await writer.db.put('first', 1);
  await writer.link.push();
  await reader.link.pull();
  await pushLong(writer);
  const counted = new Counted(reader);
  await reader.link.pull();
  expect(await rowsOf(reader.db)).toEqual({ first: 1, long: long(PUSHES - 1) });
  expect(counted.all).toBeGreaterThan((PUSHES - 1) * counted.longest);
  expect(counted.most).toBe(counted.longest);
});

it('a device inflates the entries after a checkpoint one after the other', async () => {
  const remote = memoryRemote();
  const writer = await device(remote);
  const head = () => contextOf(writer.link).heads.last?.head;
  for (let nth = 0; head()?.checkpoint.seq === undefined || head()?.checkpoint.seq === 0; nth++) {
    await writer.db.put('first', nth);
    await writer.link.push();
  }
  await pushLong(writer);
  const last = head();
  expect((last?.seq ?? 0) - (last?.checkpoint.seq ?? 0)).toBe(PUSHES);
  const reader = await device(remote);
  const counted = new Counted(reader);
  await reader.link.pull();
  expect(await rowsOf(reader.db)).toEqual(await rowsOf(writer.db));
  expect(counted.all).toBeGreaterThan(PUSHES * long(0).text.length);
  expect(counted.most).toBe(counted.longest);
});

it('a device refuses a wrong inflated length, and asks for no more than the stated length', async () => {
  const plain = new Uint8Array(1 << 20);
  const body = await encodeDeltaBody(plain, deflate);
  const refusal = async (length: number) => {
    const lie = body.slice();
    new DataView(lie.buffer).setUint32(0, length, true);
    const asked: number[] = [];
    const counted: Inflate = (bytes, most) => {
      asked.push(most);
      return inflate(bytes, most);
    };
    const read = async () => {
      let read = 0;
      for await (const part of decodeDeltaBody(lie, counted)) read += part.length;
      return read;
    };
    return { asked, outcome: await read().catch((cause: HedgerowError) => kindOf(cause)) };
  };
  expect(await refusal(plain.length)).toEqual({ asked: [plain.length], outcome: plain.length });
  for (const length of [1, plain.length - 1, plain.length + 1, MAX_PLAIN_DELTA_BYTES]) {
    expect(await refusal(length)).toEqual({ asked: [length], outcome: 'remote/data' });
  }
  for (const length of [0, MAX_PLAIN_DELTA_BYTES + 1, 2 ** 32 - 1]) {
    expect(await refusal(length)).toEqual({ asked: [], outcome: 'remote/data' });
  }
});
