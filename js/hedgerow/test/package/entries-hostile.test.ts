/**
 * Calls every export of every entry, and the members of their results, with unexpected arguments: each call gives an
 * answer or a `HedgerowError`, in time, and no row is lost.
 */
import { afterAll, describe, expect, it } from 'vitest';
import { HedgerowError } from '../../src/index.js';
import { HOSTILE, Thrown } from '../support/hostile-values.js';
import { ENTRIES, LEFT_OUT, type Scene, scene, UNCALLED, type Way } from './entries-ways.js';
import { entryFiles } from './entry-list.js';

/** Returns the module of an entry, from the sources. */
const load = (file: string): Promise<Record<string, unknown>> => import(/* @vite-ignore */ file);

const entries = [...entryFiles].filter(([name]) => !LEFT_OUT.has(name));

/** Numbers of calls, by entry. */
const totals: Record<string, number> = {};
afterAll(() => {
  if (process.env.HEDGEROW_COUNTS) console.log(totals);
});

const LIMIT_MS = 20_000;

/** The members that end a thing: called last. */
const ENDS = /^(close|stop|release|destroy|dispose|disconnect|abort|end|terminate)$/;

/** Replaces one of the right arguments by a hostile one. */
type Altered = (args: readonly unknown[]) => readonly unknown[];

type Call = (...args: unknown[]) => unknown;

/** Returns the functions of a value, own and inherited. */
function membersOf(value: unknown): [string, Call][] {
  const found = new Map<string, Call>();
  if (Object(value) !== value || value instanceof HedgerowError || Array.isArray(value)) return [];
  for (let at = value as object; at && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    if (
      [Function.prototype, Promise.prototype, Uint8Array.prototype, Map.prototype].includes(
        at as never,
      )
    )
      break;
    for (const [name, { value: member }] of Object.entries(Object.getOwnPropertyDescriptors(at))) {
      const isInner = /^(_|#)/.test(name) || name === 'constructor';
      if (typeof member === 'function' && !isInner && !found.has(name)) found.set(name, member);
    }
  }
  return [...found];
}

/** Returns whether a call may fail with an error. */
const isTyped = (error: unknown, way: Way): boolean =>
  error instanceof HedgerowError || error instanceof Thrown || way.isTyped?.(error) === true;

/** Makes a call to its end; resolves to a fault, if there is one. */
async function fault(what: string, way: Way, call: () => unknown): Promise<string | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const hang = new Promise<string>((resolve) => {
    timer = setTimeout(resolve, LIMIT_MS, `${what}: it hangs`);
  });
  const run = async () => {
    try {
      const answer = await call();
      const list = Object(answer) as { toArray?: () => unknown };
      if (typeof list.toArray === 'function') await list.toArray();
      if (!way.isKept?.(answer)) await way.end?.(answer);
      return undefined;
    } catch (error) {
      if (isTyped(error, way)) return undefined;
      const { name, message, stack = '' } = Object(error) as Error;
      const at = /src\/[^)]*/.exec(stack)?.[0] ?? '';
      return `${what}: ${name}: ${message} (${at})`;
    }
  };
  try {
    return await Promise.race([run(), hang]);
  } finally {
    clearTimeout(timer);
  }
}

/** Yields the arguments with one of them, or one member of a plain object among them, replaced. */
function* hostile(right: readonly unknown[]): Generator<[string, Altered]> {
  for (const [at, arg] of right.entries()) {
    for (const [kind, make] of Object.entries(HOSTILE)) {
      yield [`${at}: ${kind}`, (args) => args.with(at, make())];
    }
    if (arg === null || Object.getPrototypeOf(Object(arg)) !== Object.prototype) continue;
    for (const name of [...Object.keys(arg as object), 'strange']) {
      for (const [kind, make] of Object.entries(HOSTILE)) {
        const altered: Altered = (args) =>
          args.with(at, { ...(args[at] as object), [name]: make() });
        yield [`${at}.${name}: ${kind}`, altered];
      }
    }
  }
}

/** Calls every function of a value. */
async function* faultsOf(
  path: string,
  value: unknown,
  way: Way,
  entry: string,
): AsyncGenerator<string | undefined> {
  const ends = membersOf(value).filter(([name]) => ENDS.test(name));
  for (const [name, member] of membersOf(value)) {
    if (ENDS.test(name) || way.without?.test(name)) continue;
    const right = way.members?.[name];
    const tries = right ? [...hostile(right)] : [];
    for (const [kind, make] of Object.entries(HOSTILE)) {
      tries.push(
        [kind, () => [make()]],
        [`text, ${kind}`, () => ['none/text', make()]],
        [`text, twice ${kind}`, () => ['none', make(), make()]],
      );
    }
    for (const [kind, alter] of tries) {
      totals[entry] = (totals[entry] ?? 0) + 1;
      yield fault(`${path}.${name}(${kind})`, way, () =>
        member.apply(value, [...alter(right ?? [])]),
      );
    }
  }
  for (const [, end] of ends) yield fault(`${path}, its end`, way, () => end.call(value));
}

describe.each(entries)('%s', (entry, file) => {
  it('has each of its exports in the list', async () => {
    const names = Object.entries(await load(file)).filter(([, one]) => typeof one === 'function');
    const known = Object.keys(ENTRIES[entry] ?? {});
    expect(
      names
        .map(([name]) => name)
        .filter((name) => !UNCALLED.has(name))
        .sort(),
    ).toEqual(known.sort());
  });

  it.each(Object.entries(ENTRIES[entry] ?? {}))('%s', async (name, way) => {
    const module = await load(file);
    const given = module[name] as Call & { prototype?: unknown };
    const call: Call = way.isClass
      ? (...args) => Reflect.construct(given as never, args)
      : (...args) => given(...args);
    const found: string[] = [];
    const here: Scene = await scene();
    const { root } = here.db;
    const note = (one: string | undefined) => one !== undefined && found.push(one);
    const right = await way.args(here);
    for (const [kind, alter] of hostile(right)) {
      totals[entry] = (totals[entry] ?? 0) + 1;
      const args = alter(await way.args(here));
      note(await fault(`${name}(${kind})`, way, () => call(...args)));
    }
    if (way.isRefused) {
      expect(found.join('\n')).toBe('');
      return here.db.close();
    }
    const first = await call(...(await way.args(here)));
    const made = way.opened ? await way.opened(here, first as never) : first;
    if (!way.isKept?.(made)) {
      for await (const one of faultsOf(name, made, way, entry)) note(one);
    }
    expect(found.join('\n')).toBe('');
    if (!way.writes) expect(here.db.root).toBe(root);
    for (const [key, value] of here.rows) expect(await here.db.get(key)).toEqual(value);
    await here.db.close();
  });
});
