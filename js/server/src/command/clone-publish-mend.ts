/** Runs `npx @hedgerow/server clone`, `publish` and `mend`: between a store in SQLite and a remote. */

import { sqlite } from '@hedgerow/sqlite';
import { open } from 'hedgerow';
import { type BucketConnection, bucket, type Remote, type SyncProgress } from 'hedgerow/sync';
import {
  encryption,
  folderAt,
  isFolder,
  parseArguments,
  process,
} from './arguments-and-environment.js';
import { ADDRESS, checkThere, remoteAt, S3_USAGE } from './remote-at-address.js';

export const CLONE_USAGE = `hedgerow clone ${ADDRESS} <folder> [--store app] [--branch main]

Brings a branch of a remote into the store of a folder, in SQLite, and goes on where it was cut off. Later calls bring what
has changed since. HEDGEROW_TOKEN has the bearer token, if the server wants one; HEDGEROW_KEY the key of a remote that is
encrypted, as 64 hexadecimal digits, or those of its epochs, with commas; HEDGEROW_SIGNED_BY the public key of who signs;
HEDGEROW_PLACE what the app calls the remote: with HEDGEROW_KEY it is needed.

${S3_USAGE}`;

export const PUBLISH_USAGE = `hedgerow publish <folder> ${ADDRESS} [--store app] [--branch main]

Writes the store of a folder, in SQLite, into a remote. Later calls add what has changed. Any static web server can serve a
folder: p/ and d/ as immutable, and h/ with Cache-Control: no-cache. With HEDGEROW_KEY it is encrypted, and with
HEDGEROW_SIGN, 64 hexadecimal digits that are kept secret, its heads are signed: both for HEDGEROW_PLACE, what
the app calls the remote. With HEDGEROW_KEY it is needed.

${S3_USAGE}`;

export const MEND_USAGE = `hedgerow mend <folder> ${ADDRESS} [--store app] [--branch main] [--replace]

Writes all rows of a remote again, from the store of a folder that was published to it or cloned from it, where objects of
the remote were lost or damaged. The store must have the rows of the remote as they are now. With --replace its rows become
those of the remote whatever they are: what only others have pushed is lost. Keys are those of publish.

${S3_USAGE}`;

const OPTIONS = { store: 'string', branch: 'string' } as const;

/** Makes the line that shows the progress, on terminals only. */
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

type CopyTransfer = (
  link: BucketConnection,
  how: {
    readonly onProgress: (progress: SyncProgress) => void;
  },
) => Promise<string>;

/** The arguments of a command. */
interface Job {
  readonly folder: string;
  readonly place: string;
  readonly store: string;
  readonly branch: string;
  readonly remote: Remote;
  /** Whether the store must exist. */
  readonly mustExist: boolean;
}

async function jobOf(
  [folder = '', place = '']: readonly string[],
  values: Readonly<Record<string, string | boolean | undefined>>,
  mustExist: boolean,
): Promise<Job> {
  const { store = 'app', branch = 'main' } = values as Record<string, string>;
  folderAt(folder);
  return { folder, place, store, branch, remote: await remoteAt(place), mustExist };
}

async function withLink(job: Job, work: CopyTransfer): Promise<void> {
  const { folder, place, store, branch, remote, mustExist } = job;
  // SQLite would make the folder.
  if (mustExist && !(await isFolder(folder))) {
    throw new Error(`there is no store ${store} in ${folder}: it is no folder`);
  }
  const options = { name: place, remoteBranch: branch, encryption: encryption() };
  const db = await open(store, {
    storage: sqlite({ location: folder }),
    durability: 'strict',
    advanced: { mustExist },
  });
  const line = progressLine();
  try {
    // To the store, each place is a remote of its own.
    const link = await db.connect(bucket(remote, options));
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

export async function runClone(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArguments(args, CLONE_USAGE, OPTIONS, 2);
  const [place = '', folder = ''] = positionals;
  const job = await jobOf([folder, place], values, false);
  // Fails before it makes a store.
  await checkThere(place, job.remote);
  if ((await job.remote.readHead(job.branch)) === undefined) {
    throw new Error(`there is no branch ${job.branch} at ${place}`);
  }
  await withLink(job, async (link, how) => {
    const { rows } = await link.pull(how);
    return `${rows} rows from ${place}`;
  });
}

export async function runPublish(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArguments(args, PUBLISH_USAGE, OPTIONS, 2);
  await withLink(await jobOf(positionals, values, true), async (link, how) => {
    const { isPushed, seq } = await link.push(how);
    return isPushed ? `published as state ${seq}` : 'nothing has changed';
  });
}

export async function runMend(args: readonly string[]): Promise<void> {
  const options = { ...OPTIONS, replace: 'boolean' } as const;
  const { values, positionals } = parseArguments(args, MEND_USAGE, options, 2);
  const remote = values.replace === true ? 'replace' : true;
  await withLink(await jobOf(positionals, values, true), async (link) => {
    const { seq } = await link.repair({ remote });
    return `mended as state ${seq}`;
  });
}
