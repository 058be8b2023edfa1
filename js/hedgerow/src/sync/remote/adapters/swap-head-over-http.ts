/** The swap of a head over HTTP: every answer that stores give to it, and what it means. */
import { sameBytes } from '../../../base/bytes.js';
import type { HedgerowError } from '../../../base/errors.js';
import { pause } from '../../../base/pauses.js';
import type { RemoteHead, Swap } from '../remote.js';
import { goneFault, remoteFault, unknownIfUnsure, unsafeFault } from '../remote-faults.js';
import { type HttpAnswer, readRefusal } from './http-exchange.js';
import { checkNoPage, isStrong } from './web-answer.js';

/** The requests of one swap. */
export interface SwapCalls {
  put(condition: Readonly<Record<string, string>>): Promise<HttpAnswer>;
  read(): Promise<RemoteHead | undefined>;
}

/** Tries of a write that the store answers with 409: AWS does so when two writes meet. */
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

/** The swaps of heads of one store. Remembers how the store wants to be asked. */
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
      // The head has this token, and the store denies it: some stores want it without quotes.
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
    // At a store that is not AWS, the meaning of the 409 before is not known.
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

/** Finds the fault of an answer to a PUT: a body, which no store sends. A login page may answer for a store. */
async function bodyFault(what: string, answer: HttpAnswer): Promise<HedgerowError | undefined> {
  try {
    checkNoPage(what, answer);
    await answer.bytes(0);
    return undefined;
  } catch (cause) {
    return cause as HedgerowError;
  }
}

/** Infers how a swap ended from the head that is there, if its answer has no token, or is no store's. */
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
