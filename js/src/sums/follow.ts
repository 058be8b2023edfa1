/**
 * Makes the sum trees that are to follow rows and do not yet: of all rows, in one commit, beside
 * other work. From then on every commit of rows brings them along.
 */
import type { Commits } from '../commit.js';
import { HedgerowError } from '../errors.js';
import type { Host } from '../host.js';
import { guarded, Ingest } from '../ingest.js';
import { MAX_BUILD_WAIT_MS } from '../limits.js';
import type { Standpoint } from '../standpoint.js';
import { definitionText, toldDefinition } from './definition.js';
import { sumEngine } from './sum-engine.js';

const making = new WeakMap<Commits, Promise<void>>();

/** Whether a commit lacks one of the trees that are wanted, or has one that nobody wants. */
async function isBehind(host: Host, view: number): Promise<boolean> {
  if (host.sums === undefined) return false;
  const wanted = new Map(Object.entries(host.sums));
  const definition = (name: string) => toldDefinition(host.engine.total(view, name));
  for (const name of wanted.keys()) {
    if (host.engine.total(view, name).length > 0 && definition(name) === '') {
      throw new HedgerowError('invalid-argument', `the sum tree ${name} was made by hand`);
    }
  }
  for (const [name, one] of wanted) if (definition(name) !== definitionText(one)) return true;
  const names = (await sumEngine(host)).names(view);
  return names.some((name) => !wanted.has(name) && definition(name) !== '');
}

/** Resolves when the trees that follow rows do; at once when there is nothing to make. */
export async function followed(from: Standpoint): Promise<void> {
  const { host, commits } = from;
  if (host.sums === undefined) return;
  await sumEngine(host);
  const held = await from.holdHead();
  const behind = held.head.rows > 0 && (await isBehind(host, held.head.view));
  held.release();
  if (!behind) return;
  if (from.write === undefined) {
    throw new HedgerowError('not-ready', 'the sum tree was not yet made then');
  }
  let made = making.get(commits);
  if (made === undefined) {
    made = from.write(async (durability, signal) => {
      const work = async () => {
        if (await isBehind(host, commits.head.view)) await make(host, commits, durability, signal);
      };
      // Two that make them only race.
      await commits.pins.alone('sums', MAX_BUILD_WAIT_MS, work, signal);
    });
    making.set(commits, made);
    made.catch(() => {}).finally(() => making.delete(commits));
  }
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
