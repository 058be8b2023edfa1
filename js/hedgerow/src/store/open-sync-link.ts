/** Links to a remote, or to the app's own server. Loaded by `db.remote()`. */

import { part } from '../base/dynamic-import.js';
import { memberOf } from '../base/runtime-type-checks.js';
import type { LazyRemote } from '../sync/lazy/open-lazy.js';
import {
  contextOf,
  createLink,
  type Link,
  type LinkOptions,
  loadParts,
} from '../sync/link/index.js';
import type { SyncHost } from '../sync/link/linked-store-types.js';
import type { MutatorOptions, Mutators } from '../sync/mutators/types.js';
import type { Remote } from '../sync/remote/remote.js';
import type { RestOptions } from '../sync/rest/types.js';
import { isOwnServer, type OwnServer } from '../sync/wire/link-app-server.js';

/** Opens a link. `hedgerow/mutators` and `hedgerow/rest` pass an own server in the place of a remote. */
export async function openStoreLink(
  host: SyncHost,
  remote: Remote | OwnServer | LazyRemote,
  options: LinkOptions,
): Promise<Link> {
  if (isLazy(remote)) return withMender(await (await lazily()).openLazy(host, remote, options));
  if (!isOwnServer(remote)) return withMender(await createLink(host, remote, options));
  return (await openOwn(host, remote)) as unknown as Link;
}

/** Gives a link the code that fetches damaged chunks, which the first repair loads. */
function withMender(link: Link): Link {
  const context = contextOf(link);
  context.mender = async () => (await mending()).menderOf(context);
  return link;
}

function isLazy(remote: Remote | OwnServer | LazyRemote): remote is LazyRemote {
  return memberOf(remote, 'segments') !== undefined;
}

const lazily = () => part(() => import('../sync/lazy/on-demand-lazy-bundle.js'));
const mending = () => part(() => import('../sync/lazy/refetch-damaged-chunks.js'));
const mutating = () => part(() => import('../sync/mutators/open-server-link.js'));
const resting = () => part(() => import('../sync/rest/open-rest-link.js'));

/** Loads the parts that links load at need: for remotes, for the app's own server, for lazy clones. */
export const loadLinkParts = () =>
  Promise.all([loadParts(), mutating(), resting(), lazily(), mending()]);

async function openOwn(host: SyncHost, { kind, wanted }: OwnServer): Promise<unknown> {
  if (kind === 'mutators') {
    return (await mutating()).openServerLink(host, wanted as MutatorOptions<Mutators>);
  }
  return (await resting()).openRestLink(host, wanted as RestOptions);
}
