/** A remote whose clock the test moves, and the names in its heads: for the tests of collections. */
import { hex } from '../../../src/base/hex.js';
import {
  PLAIN_SCOPE,
  type Scope,
  scopeInside,
} from '../../../src/sync/remote/format/cipher-suite.js';
import { utf8 } from '../../../src/sync/remote/format/field-codec.js';
import { decodeHead } from '../../../src/sync/remote/format/head-codec.js';
import { packsOf, type Tail } from '../../../src/sync/remote/format/head-record.js';
import { decodeLog } from '../../../src/sync/remote/format/tail-log-object.js';
import { memoryRemote, type Remote } from '../../../src/sync/remote/index.js';
import { isReserved, parseName } from '../../../src/sync/remote/object-names.js';

export const HOUR = 3_600_000;
export const DAY = 24 * HOUR;

/** A whole second: HTTP has times in seconds. */
export const BEGIN = Date.UTC(2026, 0, 1);

export class Clock {
  nowMs = BEGIN;
  readonly now = () => this.nowMs;
  pass(ms: number): void {
    this.nowMs += ms;
  }
}

/** Returns the branches that have heads. */
export async function branchesOf(remote: Remote): Promise<string[]> {
  const listed = (await remote.list('h/')).map(({ name }) => parseName(name));
  return listed.flatMap((one) =>
    one?.kind === 'head' && !isReserved(one.branch) ? [one.branch] : [],
  );
}

/** Entries of logs that were read, by the names of the logs. A name is a hash. */
const logs = new Map<string, Tail['tail']>();

/** Returns all objects that the head of a branch names, directly or through its logs. */
export async function namesIn(
  remote: Remote,
  branch: string,
  scope: Scope = PLAIN_SCOPE,
): Promise<string[]> {
  const found = await remote.readHead(branch);
  if (found === undefined) return [];
  const head = await decodeHead(found.bytes, { ...scope, contextBytes: utf8(branch) });
  const names = packsOf(head.checkpoint).map(({ nameBytes }) => `p/${hex(nameBytes)}`);
  names.push(...head.checkpoint.history.map(({ nameBytes }) => `d/${hex(nameBytes)}`));
  const tails = [head.tail];
  for (const { nameBytes } of head.logs) {
    const name = `d/${hex(nameBytes)}`;
    names.push(name);
    let tail = logs.get(name);
    if (tail === undefined) {
      const bytes = await remote.get(name);
      if (bytes === undefined) throw new Error(`${name} is live, and gone`);
      tail = (await decodeLog(bytes, scopeInside(scope, head))).entries.tail;
      logs.set(name, tail);
    }
    tails.push(tail);
  }
  for (const { delta } of tails.flat()) {
    if (delta.kind === 'object') names.push(`d/${hex(delta.nameBytes)}`);
  }
  return names;
}

export async function liveNames(remote: Remote, scope?: Scope): Promise<Set<string>> {
  const all = [];
  for (const branch of await branchesOf(remote))
    all.push(...(await namesIn(remote, branch, scope)));
  return new Set(all);
}

/** Returns all packs and deltas. */
export async function objectsOf(remote: Remote): Promise<Map<string, number>> {
  const listed = [...(await remote.list('p/')), ...(await remote.list('d/'))];
  return new Map(listed.map(({ name, length }) => [name, length]));
}

/** Fails if a head names an object that is gone. */
export async function checkLive(remote: Remote, scope?: Scope): Promise<void> {
  const there = await objectsOf(remote);
  for (const name of await liveNames(remote, scope)) {
    if (!there.has(name)) throw new Error(`${name} is live, and gone`);
  }
}

/** Copies the objects of a remote and its branch `main`. */
export async function copyRemote(from: Remote, to: Remote): Promise<void> {
  for (const name of ['hedgerow', ...(await objectsOf(from)).keys()]) {
    await to.put(name, (await from.get(name)) as Uint8Array);
  }
  const head = await from.readHead('main');
  await to.swapHead('main', undefined, head?.bytes as Uint8Array);
}

/** A remote in memory that checks each deletion: the object must not be live, nor have been live within the grace. */
export function judged(
  clock: Clock,
  graceMs: number,
  scope?: Scope,
): Remote & { readonly inner: Remote } {
  const inner = memoryRemote({ now: clock.now });
  /** The last time at which a head named each object. */
  const lastNamed = new Map<string, number>();
  const named = async (branch: string) => {
    if (isReserved(branch)) return;
    for (const name of await namesIn(inner, branch, scope)) lastNamed.set(name, clock.nowMs);
  };
  return {
    ...inner,
    inner,
    async swapHead(branch, ...rest) {
      // The objects that the old head names are live until now.
      await named(branch);
      const swap = await inner.swapHead(branch, ...rest);
      await named(branch);
      return swap;
    },
    async remove(names, options) {
      const live = await liveNames(inner, scope);
      for (const name of names) {
        if (live.has(name)) throw new Error(`${name} is live, and to be deleted`);
        const age = clock.nowMs - (lastNamed.get(name) ?? 0);
        if (age < graceMs) throw new Error(`${name} was live ${age} ms ago, and to be deleted`);
      }
      return inner.remove(names, options);
    },
  };
}
