/** Binds a store to its own server. Loaded when `mutators()` is first called. */
import { HedgerowError } from '../base/errors.js';
import { FORMAT } from '../base/limits.js';
import { optionsOf } from '../base/options.js';
import { refOfBranch } from '../history/branch-name.js';
import { firstGeneration, MUTATORS_REF } from '../history/branch-refs.js';
import { EMPTY_COMMIT } from '../history/inventory.js';
import { writeRefs } from '../history/ref-write.js';
import type { SharedStore } from '../history/shared-store.js';
import type { Durability } from '../storage/segment-store.js';
import type { SyncHost } from '../sync/host.js';
import { JointHead } from '../sync/joint-heads.js';
import { IndexBuilder } from '../write/index-builder.js';
import type { ServerContext } from './context.js';
import { freshRecord, Queue } from './queue.js';
import { ServerLink } from './server-link.js';
import type { MutatorOptions, Mutators } from './types.js';
import { Wire } from './wire.js';

const OPTIONS = 'mutators pull push auth schemaVersion maxPullBytes durability onRejected onReset';

const MAX_PULL_BYTES = 2 ** 30;

/** Checks what the app has given. */
function checked<M extends Mutators>(given: MutatorOptions<M>): MutatorOptions<M> {
  const options = optionsOf('mutators', given, OPTIONS) as MutatorOptions<M>;
  const { mutators, auth, schemaVersion = '', maxPullBytes = 1 } = options;
  const isPlace = (place: unknown) =>
    typeof place === 'function' ||
    typeof (place as { url?: unknown } | undefined)?.url === 'string';
  const areMutators =
    typeof mutators === 'object' &&
    mutators !== null &&
    Object.values(mutators).every((mutator) => typeof mutator === 'function');
  const faults = [
    !areMutators && 'mutators are functions',
    !(isPlace(options.pull) && isPlace(options.push)) &&
      'pull and push are functions, or have a url',
    !(auth === undefined || typeof auth === 'function') && 'auth is a function',
    typeof schemaVersion !== 'string' && 'schemaVersion is a string',
    !(maxPullBytes > 0) && 'maxPullBytes is above 0',
  ].filter(Boolean);
  if (faults.length === 0) return options;
  throw new HedgerowError('invalid-argument', `mutators: ${faults.join('; ')}`);
}

/** Makes the branches of the server's rows and of the queue, unless they are there. */
async function makeBranches(
  shared: SharedStore,
  names: readonly string[],
  durability: Durability,
): Promise<void> {
  const refs = await shared.queued(() => shared.inventory.look());
  const commitBytes = EMPTY_COMMIT;
  const also = names
    .filter((name) => !refs.has(name))
    .map((name) => {
      return { name, commitBytes, generation: firstGeneration(), format: FORMAT, expected: 0 };
    });
  if (also.length === 0) return;
  // If another tab is first, they are there.
  if (await writeRefs(shared.host.segments, { segments: [], also, durability })) {
    shared.inventory.moved(also);
  }
}

/** Binds a store to its own server. */
export async function openServerLink<M extends Mutators>(
  store: SyncHost,
  given: MutatorOptions<M>,
): Promise<ServerLink<M>> {
  const options = checked(given);
  const { shared, branchName } = store;
  const { durability = store.durability, maxPullBytes = MAX_PULL_BYTES } = options;
  const root = `${MUTATORS_REF}${encodeURIComponent(branchName)}`;
  const refs = { server: `${root}/server`, queue: `${root}/queue` };
  await makeBranches(shared, [refs.server, refs.queue], durability);
  const server = new JointHead(shared, refs.server);
  server.isBare = true;
  const local = new JointHead(shared, refOfBranch(branchName));
  const queue = new Queue(shared, refs.queue, durability);
  const heads = [server, local, queue.head];
  const context: ServerContext = {
    ...{ store, shared, local, server, queue, options, durability, maxPullBytes },
    wire: new Wire(options),
  };
  try {
    await local.exclusively(async () => {
      for (const head of heads) await head.refresh();
      await queue.look();
      if (!queue.isNew) return;
      if (local.head.rows > 0) {
        const message = 'mutators: the store has rows that no server knows';
        throw new HedgerowError('invalid-argument', message);
      }
      await queue.alone(() => ({ record: queue.isNew ? freshRecord() : queue.record }));
    });
  } catch (cause) {
    for (const head of heads) head.leave();
    throw cause;
  }
  // Mutators may read by an index when they run again, on the rows of the server.
  const builder =
    shared.host.indexes.all.length > 0
      ? new IndexBuilder(shared.host, server, { alone: false, durability })
      : undefined;
  return new ServerLink<M>(context, builder);
}
