/** Values that no call expects. Each is made again for each use: some of them work only once. */
import { memory, open } from '../../src/index.js';

/** The error that traps and getters of hostile values throw. */
export class Thrown extends Error {}

const thrower = (): never => {
  throw new Thrown('a trap of a proxy');
};
const TRAPS = {
  get: thrower,
  has: thrower,
  ownKeys: thrower,
  getPrototypeOf: thrower,
  getOwnPropertyDescriptor: thrower,
};

export function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

function locked(): ReadableStream {
  const stream = new Response('[]').body as ReadableStream;
  stream.getReader();
  return stream;
}

/** The names appear in messages. */
export const HOSTILE: Readonly<Record<string, () => unknown>> = {
  undefined: () => undefined,
  null: () => null,
  zero: () => 0,
  'a number': () => -1.5,
  NaN: () => Number.NaN,
  'an empty text': () => '',
  'a text': () => 'none/of/the/rows',
  'half of an emoji': () => '\ud83d',
  'a bigint': () => 5n,
  true: () => true,
  'a symbol': () => Symbol('s'),
  'a function': () => () => undefined,
  'an empty object': () => ({}),
  'an object without a prototype': () => Object.create(null),
  'an object whose options are null': () => ({
    signal: null,
    options: null,
    name: null,
    key: null,
  }),
  'an object of a class': () => new (class Odd {})(),
  'an empty list': () => [],
  'a list of null': () => [null],
  'a list of symbols': () => [Symbol('s'), Symbol('t')],
  'a Map': () => new Map([['size', 1]]),
  'an invalid Date': () => new Date(Number.NaN),
  'three bytes': () => new Uint8Array(3),
  'a proxy that throws': () => new Proxy({}, TRAPS),
  'a function whose proxy throws': () => new Proxy(() => {}, TRAPS),
  'a revoked proxy': revoked,
  'a promise': () => Promise.resolve({}),
  'the promise of a store': () => open('promised', { storage: memory() }),
  'a locked stream': locked,
  'an iterator of nothing': () => ({ [Symbol.iterator]: () => ({ next: () => undefined }) }),
  'an iterator of steps': () => ({ [Symbol.iterator]: () => ({}) }),
  'an iterator that is none': () => ({ [Symbol.iterator]: 5 }),
  'an asynchronous iterator of nothing': () => ({
    [Symbol.asyncIterator]: () => ({ next: async () => undefined }),
  }),
  'an object that throws in a getter': () =>
    Object.defineProperty({}, 'signal', { enumerable: true, get: thrower }),
  'an object with a text that throws': () => ({ toString: thrower, valueOf: thrower }),
};
