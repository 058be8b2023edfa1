/** `npx hedgerow clone` and `npx hedgerow publish`: between a store in SQLite and a remote. */
import { open, type SyncProgress } from '../index.js';
import { folderRemote, sqlite } from '../node/index.js';
import { httpRemote, type Remote } from '../remote/index.js';
import { encryption, parsed, process, signed, token } from './platform.js';

export const CLONE_USAGE = `hedgerow clone <url or folder of the remote> <folder> [--store app] [--branch main]

Brings a branch of a remote into the store of a folder, in SQLite, and goes on where it was cut off. Later calls bring what
has changed since. HEDGEROW_TOKEN has the bearer token, if the server wants one; HEDGEROW_KEY the key of a remote that is
encrypted, as 64 hexadecimal digits, or those of its epochs, with commas; HEDGEROW_SIGNED_BY the public key of who signs.`;

export const PUBLISH_USAGE = `hedgerow publish <folder> <folder of the remote> [--store app] [--branch main]

Writes the store of a folder, in SQLite, into a folder that any static web server can serve. Later calls add what has
changed. Serve p/ and d/ as immutable, and h/ with Cache-Control: no-cache. With HEDGEROW_KEY it is encrypted, and with
HEDGEROW_SIGN, 64 hexadecimal digits that are kept secret, its heads are signed.`;

const OPTIONS = { store: 'string', branch: 'string' } as const;

/** Tells how far it is: on a terminal in one line. */
function progressLine(): { tell(progress: SyncProgress): void; end(): void } {
  const { stderr } = process;
  if (stderr.isTTY !== true) return { tell: () => {}, end: () => {} };
  return {
    tell: ({ packs, allPacks, bytes }) => {
      const done = allPacks === undefined ? '' : bar(packs / allPacks);
      const of = allPacks === undefined ? '' : ` of ${allPacks}`;
      stderr.write(`\r${done}${packs}${of} packs, ${(bytes / 1e6).toFixed(1)} MB `);
    },
    end: () => stderr.write('\r\u001b[K'),
  };
}

function bar(fraction: number): string {
  const full = Math.round(24 * fraction);
  return `${'#'.repeat(full)}${'.'.repeat(24 - full)} `;
}

/** A remote by what a command was given. */
export const remoteAt = (place: string): Promise<Remote> =>
  signed(/^https?:/.test(place) ? httpRemote({ url: place, token: token() }) : folderRemote(place));

type Linked = (
  link: Awaited<ReturnType<Awaited<ReturnType<typeof open>>['remote']>>,
  how: {
    readonly onProgress: (progress: SyncProgress) => void;
  },
) => Promise<string>;

async function withLink(
  folder: string,
  place: string,
  values: Readonly<Record<string, string | boolean | undefined>>,
  work: Linked,
): Promise<void> {
  const { store = 'app', branch = 'main' } = values as Record<string, string>;
  const options = { name: place, remoteBranch: branch, encryption: encryption() };
  const db = await open(store, { storage: sqlite({ location: folder }), durability: 'strict' });
  const line = progressLine();
  try {
    // Each place is a remote of its own to the store.
    const link = await db.remote(await remoteAt(place), options);
    const told = await work(link, { onProgress: line.tell });
    line.end();
    console.log(`${told}; ${(await db.count()).toLocaleString('en')} rows in all`);
  } catch (cause) {
    line.end();
    throw cause;
  } finally {
    await db.close();
  }
}

export async function clone(args: readonly string[]): Promise<void> {
  const { values, positionals } = parsed(args, CLONE_USAGE, OPTIONS, 2);
  const [place = '', folder = ''] = positionals;
  await withLink(folder, place, values, async (link, how) => {
    const { seq, applied } = await link.pull(how);
    return seq === 0 ? `there is nothing at ${place} yet` : `${applied} rows from ${place}`;
  });
}

export async function publish(args: readonly string[]): Promise<void> {
  const { values, positionals } = parsed(args, PUBLISH_USAGE, OPTIONS, 2);
  const [folder = '', place = ''] = positionals;
  await withLink(folder, place, values, async (link, how) => {
    const { isPushed, seq } = await link.push(how);
    return isPushed ? `published as state ${seq}` : 'nothing has changed';
  });
}
