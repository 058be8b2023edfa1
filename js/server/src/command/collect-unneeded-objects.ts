/** Runs `npx @hedgerow/server collect`: deletes what a remote no longer needs. */
import { memory, open } from 'hedgerow';
import { bucket, type CollectResult } from 'hedgerow/sync';
import { encryption, parseArguments, UsageError } from './arguments-and-environment.js';
import { ADDRESS, checkThere, remoteAt, S3_USAGE } from './remote-at-address.js';

export const COLLECT_USAGE = `hedgerow collect ${ADDRESS} [--days 7]

Deletes what no head of the remote has named for so many days, of all its branches, and says what waits. Run it about once
a day. If objects are gone that are in use, it names them, deletes nothing, and fails. HEDGEROW_TOKEN has the bearer
token, if the server wants one; HEDGEROW_KEY the key of a remote that is encrypted, and HEDGEROW_SIGN that of one that
is signed; HEDGEROW_PLACE what the app calls it: with HEDGEROW_KEY it is needed.

${S3_USAGE}`;

const DAY_MS = 86_400_000;

const describeAmount = ({ objects, bytes }: CollectResult['live']): string =>
  `${objects.toLocaleString('en')} objects (${(bytes / 1e6).toFixed(1)} MB)`;

export async function runCollect(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArguments(args, COLLECT_USAGE, { days: 'string' }, 1);
  const [place = ''] = positionals;
  const days = Number(values.days ?? 7);
  if (!(days >= 1 / 24 && days <= 10_000)) throw new UsageError(COLLECT_USAGE);
  const remote = await remoteAt(place);
  await checkThere(place, remote);
  const db = await open('collect', { storage: memory() });
  try {
    const link = await db.connect(bucket(remote, { encryption: encryption() }));
    const { deleted, waiting, live, missing } = await link.collect({ graceMs: days * DAY_MS });
    console.log(
      `deleted ${describeAmount(deleted)}; ${describeAmount(waiting)} wait; ${describeAmount(live)} are in use`,
    );
    if (missing.length > 0) {
      const what = `${missing.length} objects that its heads name are gone, so nothing was deleted`;
      throw new Error(`${what}: run hedgerow mend where the rows are: ${missing.join(', ')}`);
    }
  } finally {
    await db.close();
  }
}
