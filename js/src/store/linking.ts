/** What `db.remote()` loads: a link to a remote, or to the app's own server. */
import { part } from '../base/parts.js';
import { isOwnServer, type OwnServer } from '../mutators/own-server.js';
import type { Remote } from '../remote/remote.js';
import type { SyncHost } from '../sync/host.js';
import { type Link, type LinkOptions, openLink as openRemote } from '../sync/index.js';

/** Opens a link. `hedgerow/mutators` hands over an own server in the place of a remote. */
export async function openLink(
  host: SyncHost,
  remote: Remote | OwnServer,
  options: LinkOptions,
): Promise<Link> {
  if (!isOwnServer(remote)) return openRemote(host, remote, options);
  const { openServerLink } = await part(() => import('../mutators/open.js'));
  return (await openServerLink(host, remote.wanted)) as unknown as Link;
}
