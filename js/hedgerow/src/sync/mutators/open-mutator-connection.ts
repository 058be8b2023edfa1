/** Connects a store to the app's own server. Loaded by `db.connect(mutators())`. */

import { optionsOf } from '../../base/check-options.js';
import { HedgerowError } from '../../base/errors.js';
import { isRevoked } from '../../base/runtime-type-checks.js';
import { BranchHead } from '../../engine/history/branch-head.js';
import { refOfBranch } from '../../engine/history/branch-name.js';
import { MUTATORS_REF } from '../../engine/history/branch-refs.js';
import { IndexBuilder } from '../../engine/write/background-index-builder.js';
import type { SyncHost } from '../link/linked-store-types.js';
import { makeBranches } from '../link/make-branches.js';
import { Wire } from '../wire/app-server-client.js';
import { MAX_PULL_BYTES, MAX_PUSH_BYTES, wireFaults } from '../wire/app-server-options.js';
import type { MutatorTransport } from './index.js';
import { MutatorConnection } from './mutator-connection.js';
import { MUTATOR_OPTIONS, type MutatorOptions } from './mutator-options.js';
import { freshRecord, Queue } from './queue.js';
import type { ServerContext } from './server-context.js';
import { ownBranch } from './sole-branch-writer.js';
import type { Mutators } from './types.js';

/** Checks the options of the app. */
function checkMutatorOptions<M extends Mutators>(given: MutatorOptions<M>): MutatorOptions<M> {
  const options = optionsOf(
    'mutators',
    given as MutatorOptions<Mutators>,
    MUTATOR_OPTIONS,
  ) as MutatorOptions<M>;
  const { mutators, schemaVersion = '', localWrites = false } = options;
  const areMutators =
    typeof mutators === 'object' &&
    mutators !== null &&
    !isRevoked(mutators) &&
    Object.values(mutators).every((mutator) => typeof mutator === 'function');
  const faults = [
    ...(areMutators ? [] : ['mutators are functions']),
    ...wireFaults(options),
    ...(typeof schemaVersion === 'string' ? [] : ['schemaVersion is a string']),
    ...(typeof localWrites === 'boolean' ? [] : ['localWrites is true or false']),
  ];
  if (faults.length === 0) return options;
  throw new HedgerowError('invalid-argument', `mutators: ${faults.join('; ')}`);
}

/** Connects a store to the app's own server. */
export async function connectMutators<M extends Mutators>(
  store: SyncHost,
  { options: given }: MutatorTransport<M>,
): Promise<MutatorConnection<M>> {
  const options = checkMutatorOptions(given);
  const { shared, branchName } = store;
  const { durability = store.durability } = options;
  const { maxPullBytes = MAX_PULL_BYTES, maxPushBytes = MAX_PUSH_BYTES } = options;
  const root = `${MUTATORS_REF}${encodeURIComponent(branchName)}`;
  const refs = { server: `${root}/server`, queue: `${root}/queue` };
  await makeBranches(shared, [refs.server, refs.queue], durability);
  const server = new BranchHead(shared, refs.server);
  server.isBare = true;
  const local = new BranchHead(shared, refOfBranch(branchName));
  const queue = new Queue(shared, refs.queue, durability);
  const heads = [server, local, queue.head];
  const context: ServerContext = {
    ...{ store, shared, local, server, queue, options, durability, maxPullBytes, maxPushBytes },
    wire: new Wire(options),
  };
  try {
    await local.exclusively(async () => {
      for (const head of heads) await head.refresh();
      await queue.look();
      if (queue.isNew && local.head.rows > 0) {
        const message = 'mutators: the store has rows that no server knows';
        throw new HedgerowError('invalid-argument', message);
      }
      if (queue.isNew) {
        await queue.alone(() => ({ record: queue.isNew ? freshRecord() : queue.record }));
      }
      ownBranch(local, options.localWrites === true);
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
  return new MutatorConnection<M>(context, builder);
}
