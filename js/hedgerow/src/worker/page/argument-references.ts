/** Arguments on their way to the worker: references replace the values that cannot cross. */
import { HedgerowError } from '../../base/errors.js';
import { isPlain } from '../../base/runtime-type-checks.js';
import type { ArgumentRef, Call } from '../protocol.js';
import { copyValue, guardRead } from './sendable-copy.js';
import { ArgumentSource } from './source-sender.js';

/** Options whose functions return no result. */
const NOTIFIED = /^on(Progress|Error)$/;
/** Calls that take a value: the store refuses functions in it. */
const TAKES_VALUE = /^(put|insert|update)$/;
const REMEDY =
  'put it into the definition of the table, which the worker has, or make the change in a transaction';

export function refuseArgument(message: string): never {
  throw new HedgerowError('invalid-argument', message);
}

export const refuseFunction = (name: string) =>
  refuseArgument(
    `${name}: a function whose result is needed cannot cross to the worker: ${REMEDY}`,
  );

/** Copies arguments at once: messages leave at the end of the turn, and callers may change their objects before. */
export const copyCalls = (calls: readonly Call[]): Call[] =>
  calls.map(([name, ...args]) => [name, ...args.map(copyValue)]);

/** A registry of arguments that cannot cross. */
export interface ArgumentRegistry {
  /** Returns the number of a handle, `undefined` for other values. */
  handle(value: unknown): number | undefined;
  source(source: ArgumentSource): number;
  callback(value: (told: never) => unknown): number;
  signal(value: AbortSignal): void;
}

/** Returns a path that can cross, with references to the rest. */
export function extractRefs(
  given: readonly Call[],
  isWatch: boolean,
  placed: ArgumentRegistry,
): [path: Call[], refs: ArgumentRef[]] {
  const refs: ArgumentRef[] = [];
  const path = guardRead(() =>
    given.map(([name, ...args], step): Call => {
      /** Whether a reference now replaces the value. */
      const isPlaced = (value: unknown, at: number, member?: string): boolean => {
        if (typeof value !== 'function' && Object(value) !== value) return false;
        const put = (what: ArgumentRef[3], number: number) =>
          refs.push([step, at, member, what, number]) > 0;
        const handle = placed.handle(value);
        if (handle !== undefined) return put('handle', handle);
        if (value instanceof ArgumentSource) return put('source', placed.source(value));
        if (typeof value === 'function') {
          if (member === undefined ? isWatch : NOTIFIED.test(member))
            return put('callback', placed.callback(value as () => unknown));
          if (member === undefined || !TAKES_VALUE.test(name))
            refuseFunction(member === undefined ? name : `${name}: ${member}`);
        }
        if (member !== 'signal') return false;
        // A row may have a member `signal`, too.
        const { aborted, addEventListener: listens } = value as AbortSignal;
        if (typeof aborted !== 'boolean' || !listens) return false;
        placed.signal(value as AbortSignal);
        return put('signal', 0);
      };
      return [
        name,
        ...args.map((arg, index) => {
          if (isPlaced(arg, index + 1)) return undefined;
          if (!isPlain(arg)) return arg;
          const names = Object.entries(arg).filter(([member, one]) =>
            isPlaced(one, index + 1, member),
          );
          if (names.length === 0) return arg;
          const left: Record<string, unknown> = { ...arg };
          for (const [member] of names) delete left[member];
          return left;
        }),
      ];
    }),
  );
  return [path, refs];
}
