/**
 * Reads of packs and deltas. These never change: if an answer is cut off, its bytes stay, and only the rest is asked
 * for: at once while each try brings bytes, and otherwise by the next call for the same bytes.
 */
import { concatBytes } from '../../../base/bytes.js';
import { type HedgerowError, kindOfError } from '../../../base/errors.js';
import { MAX_OBJECT_BYTES } from '../../../base/limits.js';
import type { ByteRange } from '../remote.js';
import { offlineFault, remoteFault } from '../remote-faults.js';
import { type HttpAnswer, readRefusal } from './http-exchange.js';
import { objectPace, type TransferPace } from './minimum-transfer-speed.js';
import { checkNoPage, parseContentRange, readContentLength } from './web-answer.js';

/** Sends the request for an object, with these headers. */
export type SendGet = (
  headers: Readonly<Record<string, string>>,
  pace: TransferPace,
) => Promise<HttpAnswer>;

/** Tries in a row without a byte, after which a call gives up. */
const MAX_IDLE_TRIES = 2;
/** Tries of a call in all: a server may send a byte at a time, and never end. */
const MAX_TRIES = 1000;

/** The arrived bytes of an object, or of a range of it. */
class PartialObject {
  readonly parts: Uint8Array[] = [];
  length = 0;
  /** Bytes of the object, if an answer has said so. */
  total: number | undefined;

  add(part: Uint8Array): void {
    if (part.length === 0) return;
    this.parts.push(part);
    this.length += part.length;
  }
}

/** The reads of objects of one remote. */
export class ObjectReads {
  /** The bytes that failed calls have left, the oldest first: at most `MAX_OBJECT_BYTES` in all. */
  readonly #left = new Map<string, PartialObject>();

  /** Reads an object, or a range; resolves to `undefined` if it does not exist. */
  async get(name: string, range: ByteRange | undefined, send: SendGet) {
    const key = `${name} ${range?.from}-${range?.to}`;
    const arrived = this.#left.get(key) ?? new PartialObject();
    this.#left.delete(key);
    // The pace of all tries: a server that sends a byte to each is too slow.
    const pace = objectPace();
    const sendNext = (headers: Readonly<Record<string, string>>) => send(headers, pace);
    for (let [tries, idle] = [1, 0]; ; tries++) {
      const before = arrived.length;
      try {
        return (await read(name, range, arrived, sendNext))
          ? concatBytes(arrived.parts)
          : undefined;
      } catch (cause) {
        const { code, retryable = false } = cause as Partial<HedgerowError>;
        if (arrived.length > before) idle = 0;
        else idle += 1;
        const mayGoOn = arrived.length > 0 && idle <= MAX_IDLE_TRIES && tries < MAX_TRIES;
        if (code === 'offline' && mayGoOn && !pace.isTooSlow) continue;
        // Bytes that do not fit, or are refused, are not kept.
        if (retryable || code === 'aborted') this.#keep(key, arrived);
        throw cause;
      }
    }
  }

  #keep(key: string, arrived: PartialObject): void {
    if (arrived.length > 0) this.#left.set(key, arrived);
    let bytes = 0;
    for (const { length } of this.#left.values()) bytes += length;
    for (const [oldest, { length }] of this.#left) {
      if (bytes <= MAX_OBJECT_BYTES) return;
      this.#left.delete(oldest);
      bytes -= length;
    }
  }
}

/** Reads on from the arrived bytes; `false` if there is no such object. */
async function read(
  name: string,
  range: ByteRange | undefined,
  arrived: PartialObject,
  send: (headers: Readonly<Record<string, string>>) => Promise<HttpAnswer>,
): Promise<boolean> {
  const { from, to } = range ?? { from: 0, to: MAX_OBJECT_BYTES };
  const at = from + arrived.length;
  if (at === Math.min(to, arrived.total ?? to)) return true;
  const isPart = at > 0 || range !== undefined;
  // Without an end that is not known: pages may send both forms without a preflight.
  const answer = await send(isPart ? { Range: `bytes=${at}-${range ? to - 1 : ''}` } : {});
  const { status } = answer;
  checkNoPage(`GET ${name}`, answer);
  if (status === 200) {
    arrived.total ??= readContentLength(answer);
    // A server that ignores the range also sends the bytes that are here.
    let position = 0;
    for await (const part of answer.parts(MAX_OBJECT_BYTES)) {
      const end = Math.max(0, to - position);
      arrived.add(part.subarray(Math.max(0, from + arrived.length - position), end));
      position += part.length;
    }
    return true;
  }
  if (isPart && status === 206) {
    const { told, first, last, total } = parseContentRange(answer);
    const isOther = total !== undefined && arrived.total !== undefined && total !== arrived.total;
    const wrong = () => remoteFault(`GET ${name}: bytes from ${at} came as ${told}`, status);
    if (told !== undefined && (first !== at || isOther)) throw wrong();
    arrived.total ??= total;
    for await (const part of answer.parts(to - at)) arrived.add(part);
    const end = from + arrived.length;
    if (told !== undefined && last !== end - 1) throw wrong();
    // A server may give less than it was asked for.
    if (total !== undefined && end < Math.min(to, total)) throw offlineFault('a part came');
    return true;
  }
  if (isPart && status === 416) {
    answer.drop();
    return true;
  }
  const fault = await readRefusal(`GET ${name}`, answer);
  if (status === 404 && kindOfError(fault) !== 'remote/gone') return false;
  throw fault;
}
