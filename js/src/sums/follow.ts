/**
 * Makes the sum trees that are to follow rows and do not yet: of all rows, in one commit, beside
 * other work. So does every commit that changes rows; this is for rows that nobody changes.
 */
import type { Commits, Head } from '../commit.js';
import { HedgerowError } from '../errors.js';
import type { Host } from '../host.js';
import { guarded, Ingest } from '../ingest.js';
import type { Standpoint } from '../standpoint.js';
import { toldDefinition } from './root.js';
import { sumEngine } from './sum-engine.js';

/** What is being made, and where the branch stood when that was begun. */
const making = new WeakMap<Commits, { readonly head: Head; readonly made: Promise<void> }>();

/** Whether a commit lacks one of the trees that are wanted or, if it is to be `alone` with them, has others. */
export async function isBehind(host: Host, view: number, alone: boolean): Promise<boolean> {
  const { sums: wanted } = host;
  if (wanted === undefined) return false;
  const definition = (name: string) => toldDefinition(host.engine.total(view, name));
  for (const name of wanted.keys()) {
    if (host.engine.total(view, name).length > 0 && definition(name) === '') {
      throw new HedgerowError('invalid-argument', `the sum tree ${name} was made by hand`);
    }
  }
  for (const [name, one] of wanted) if (definition(name) !== one) return true;
  if (!alone) return false;
  const names = (await sumEngine(host)).names(view);
  return names.some((name) => !wanted.has(name) && definition(name) !== '');
}

/** Resolves when the trees that follow rows do; at once when there is nothing to make. */
export async function followed(from: Standpoint): Promise<void> {
  const { host, commits } = from;
  if (host.sums === undefined) return;
  await sumEngine(host);
  const { leftovers } = commits;
  // A snapshot stays as it is.
  const alone = leftovers.sums && from.write !== undefined;
  const held = await from.holdHead();
  const check = async ({ rows, view }: Head) => rows > 0 && isBehind(host, view, alone);
  const behind = await check(held.head).finally(held.release);
  if (!behind && alone) leftovers.sums = false;
  if (!behind) return;
  if (from.write === undefined) {
    throw new HedgerowError('not-ready', 'the sum tree was not yet made then');
  }
  const before = making.get(commits);
  if (before !== undefined) {
    return before.made.catch((cause: unknown) => {
      // The rows that it failed of may have changed since.
      if (before.head === commits.head) throw cause;
      return followed(from);
    });
  }
  const { head } = commits;
  const { closing = new AbortController().signal } = from;
  const made = from.write(closing, false, async (durability) => {
    const work = async () => {
      const { view } = commits.head;
      if (await isBehind(host, view, leftovers.sums))
        await make(host, commits, durability, closing);
    };
    await commits.pins.alone('sums', closing, work);
  });
  making.set(commits, { head, made });
  made.catch(() => {}).finally(() => making.delete(commits));
  return made;
}

async function make(
  host: Host,
  commits: Commits,
  durability: Parameters<typeof Ingest.begin>[2],
  signal: AbortSignal,
): Promise<void> {
  const ingest = await Ingest.begin(host, commits, durability, { signal });
  await guarded(ingest, async () => {
    const sums = await sumEngine(host);
    sums.extend(ingest.op);
    await ingest.commit();
  });
}
