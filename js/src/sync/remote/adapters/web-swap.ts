/** The swap of a head over HTTP: every answer that stores give to it, and what it means. */
import { sameBytes } from '../../../base/bytes.js';
import type { HedgerowError } from '../../../base/errors.js';
import { pause } from '../../../base/timeout.js';
import type { RemoteHead, Swap } from '../remote.js';
import { goneFault, remoteFault, unknownIfUnsure, unsafeFault } from '../remote-faults.js';
import { type HttpAnswer, readRefusal } from './exchange.js';
import { checkNoPage, isStrong } from './web-answer.js';

/** The requests of one swap. */
export interface SwapCalls {
  put(condition: Readonly<Record<string, string>>): Promise<HttpAnswer>;
  read(): Promise<RemoteHead | undefined>;
}

/** Tries of a write that the store answers with 409: AWS says so when two writes meet. */
const MAX_CONFLICTS = 5;

/** Makes a request again while the store answers 409. */
export async function untilNoConflict(
  put: () => Promise<HttpAnswer>,
): Promise<{ readonly answer: HttpAnswer; readonly conflicts: number }> {
  for (let conflicts = 0; ; conflicts++) {
    const answer = await put();
    if (answer.status !== 409 || conflicts === MAX_CONFLICTS) return { answer, conflicts };
    answer.drop();
    await pause(2 ** conflicts * 20 * (0.5 + Math.random()));
  }
}

/** Swaps heads of one store, and remembers how it wants to be asked. */
export class Swapper {
  /** The store compares tokens without their quotes. */
  #isUnquoted = false;

  async swap(
    name: string,
    token: string | undefined,
    bytes: Uint8Array,
    calls: SwapCalls,
  ): Promise<Swap> {
    if (token !== undefined && !isStrong(token)) {
      throw unsafeFault(`${name} has no strong ETag: something on the way changes it or hides it`);
    }
    return unknownIfUnsure(async () => {
      const swap = await this.#once(name, token, bytes, calls);
      if (swap.state !== 'lost') return swap;
      const head = await calls.read();
      if (token === undefined) return { ...swap, head };
      if (head === undefined) throw goneFault(name);
      if (head.token !== token || this.#isUnquoted) return { ...swap, head };
      // It has this token, and says that it has not: some stores want it without quotes.
      this.#isUnquoted = true;
      const again = await this.#once(name, token, bytes, calls);
      this.#isUnquoted = again.state === 'swapped';
      if (again.state !== 'lost') return again;
      const cause = remoteFault(`${name} has the token that the store refuses for it`, 412);
      return { state: 'unknown', cause };
    });
  }

  async #once(
    name: string,
    token: string | undefined,
    bytes: Uint8Array,
    calls: SwapCalls,
  ): Promise<Swap> {
    const sent = this.#isUnquoted ? token?.replace(/^"(.*)"$/, '$1') : token;
    const condition: Record<string, string> =
      sent === undefined ? { 'If-None-Match': '*' } : { 'If-Match': sent };
    const { answer, conflicts } = await untilNoConflict(() => calls.put(condition));
    const { status } = answer;
    if (status === 412 && conflicts === 0) {
      answer.drop();
      return { state: 'lost', head: undefined };
    }
    // Of a store that is not AWS, nobody knows what the 409 before was.
    if (status === 412 || status === 409) {
      return { state: 'unknown', cause: await readRefusal(`PUT ${name}`, answer) };
    }
    if (status === 404 && token !== undefined) throw goneFault(name);
    if (status >= 300) throw await readRefusal(`PUT ${name}`, answer);
    const made = answer.header('etag');
    const cause = await bodyFault(`PUT ${name}`, answer);
    if (cause === undefined && made !== undefined && isStrong(made)) {
      return { state: 'swapped', token: made };
    }
    return inferSwapResult(name, bytes, await calls.read(), cause);
  }
}

/** The fault of an answer to a PUT, if there is one: it has a body, as no store's has. A login page may answer in the place of a store. */
async function bodyFault(what: string, answer: HttpAnswer): Promise<HedgerowError | undefined> {
  try {
    checkNoPage(what, answer);
    await answer.bytes(0);
    return undefined;
  } catch (cause) {
    return cause as HedgerowError;
  }
}

/** How a swap ended whose answer has no token, or is no store's: what stands there tells. */
function inferSwapResult(
  name: string,
  bytes: Uint8Array,
  head: RemoteHead | undefined,
  cause = remoteFault(`${name} is another one after PUT`),
): Swap {
  if (head !== undefined && !isStrong(head.token)) {
    throw unsafeFault(
      'no strong ETag can be read: expose it by CORS (ExposeHeaders: ETag), and let no proxy compress',
    );
  }
  if (head !== undefined && sameBytes(head.bytes, bytes)) {
    return { state: 'swapped', token: head.token };
  }
  return { state: 'unknown', cause };
}
