/** Runs `npx @hedgerow/server check`: shows what a remote grants, and what is missing. */
import { HedgerowError, hashedName, kindOfError, sameBytes } from 'hedgerow/kit';
import { probeRemote, type Remote } from 'hedgerow/sync';
import { isFolder, parseArguments, UsageError } from './arguments-and-environment.js';
import { pageFetch } from './cors-checked-fetch.js';
import { ADDRESS, kindAt, plainRemoteAt, S3_USAGE } from './remote-at-address.js';

export const CHECK_USAGE = `hedgerow check ${ADDRESS} [--role writer] [--origin https://app.example]

Says what a remote grants to these keys or this token: to read, write, delete and list, and whether it keeps writers apart. With
--origin it asks as a page of that origin would, and says what CORS lacks. It writes an object and a head, and deletes both if it
may. It exits with 1 unless all is granted that the role needs: reader (read), writer (read, write, apart) or collector (all).
HEDGEROW_TOKEN has the bearer token, if the server wants one.

${S3_USAGE}`;

/** The rights of each role. */
const ROLES = {
  reader: ['read'],
  writer: ['read', 'write', 'apart'],
  collector: ['read', 'write', 'apart', 'delete', 'list'],
} as const;

type Right = (typeof ROLES)['collector'][number];

/** The action of an S3 policy that grants each right. */
const PERMISSIONS: Readonly<Record<Right, string>> = {
  read: 's3:GetObject on the prefix, and s3:ListBucket on the bucket: without it what does not exist is refused',
  write: 's3:PutObject on the prefix',
  apart: 's3:PutObject on the prefix',
  delete: 's3:DeleteObject on the prefix',
  list: 's3:ListBucket on the bucket',
};

/** The refusal of each right that was tried; `undefined` for a granted right. */
type Faults = Map<Right, HedgerowError | undefined>;

/** Makes an object of random bytes. */
function object() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return { bytes, name: hashedName('d', bytes) };
}

/** Tries rights at a remote. */
async function probeRights(remote: Remote, rights: readonly Right[]): Promise<Faults> {
  const faults: Faults = new Map();
  const { bytes, name } = object();
  const attempt = async (right: Right, work: () => Promise<unknown>) => {
    if (!rights.includes(right)) return;
    try {
      await work();
      if (!faults.has(right)) faults.set(right, undefined);
    } catch (cause) {
      if (!(cause instanceof HedgerowError)) throw cause;
      faults.set(right, faults.get(right) ?? cause);
    }
  };
  // Reads an object that does not exist: some stores refuse that.
  await attempt('read', () => remote.get(object().name));
  await attempt('write', () => remote.put(name, bytes));
  if (faults.has('write') && faults.get('write') === undefined) {
    await attempt('read', async () => {
      const found = await remote.get(name);
      if (found !== undefined && sameBytes(found, bytes)) return;
      throw new HedgerowError('remote/status', 'what was written is not what is read');
    });
    await attempt('apart', () => probeRemote(remote));
    await remote.remove([name]).catch(() => {});
  }
  await attempt('delete', () => remote.remove([name]));
  await attempt('list', () => remote.list('h/'));
  return faults;
}

/** Lists the rights that were refused, or could not be tried. */
const listMissingRights = (faults: Faults, rights: readonly Right[]): Right[] =>
  rights.filter((right) => !faults.has(right) || faults.get(right) !== undefined);

function lineOf(right: Right, fault: HedgerowError | undefined, isBucket: boolean): string {
  if (fault === undefined) return `${right.padEnd(7)} yes`;
  const isDenied = isBucket && fault.code === 'unauthorized';
  return `${right.padEnd(7)} no: ${fault.message}${isDenied ? `: it needs ${PERMISSIONS[right]}` : ''}`;
}

/** Lists the CORS gaps that keep pages of this origin from these rights, each in words. */
async function pageFaults(
  place: string,
  origin: string,
  rights: readonly Right[],
  direct: Remote,
): Promise<string[]> {
  const lacks = new Set<string>();
  const page = plainRemoteAt(place, pageFetch(origin, lacks));
  // A page that does not collect need not delete: `direct` deletes what it wrote here.
  const remote = rights.includes('delete') ? page : { ...page, remove: direct.remove };
  const faults = await probeRights(remote, rights);
  if (lacks.size > 0) return [...lacks].map((one) => `CORS lacks ${one}`);
  return listMissingRights(faults, rights).map(
    (right) => `${right}: ${faults.get(right)?.message}`,
  );
}

export async function runCheck(args: readonly string[]): Promise<void> {
  const types = { role: 'string', origin: 'string' } as const;
  const { values, positionals } = parseArguments(args, CHECK_USAGE, types, 1);
  const { role = 'writer', origin } = values as Record<string, string | undefined>;
  const [place = ''] = positionals;
  const kind = kindAt(place);
  const isOrigin = origin === undefined || /^https?:\/\/[^/\s]+$/i.test(origin);
  if (!Object.hasOwn(ROLES, role) || !isOrigin || (origin !== undefined && kind === 'folder')) {
    throw new UsageError(CHECK_USAGE);
  }
  const needs: readonly Right[] = ROLES[role as keyof typeof ROLES];
  const remote = plainRemoteAt(place);
  // A write would make the folder.
  if (kind === 'folder' && !(await isFolder(place))) throw new Error(`there is no folder ${place}`);
  await remote.get('hedgerow').catch((cause: HedgerowError) => {
    if (cause.code === 'offline' || kindOfError(cause) === 'remote/gone') throw cause;
  });
  const faults = await probeRights(remote, ROLES.collector);
  for (const [right, fault] of faults) console.log(lineOf(right, fault, kind === 'bucket'));
  const missing = listMissingRights(faults, needs);
  const problems = missing.length > 0 ? [`a ${role} also needs: ${missing.join(', ')}`] : [];
  if (origin !== undefined) {
    const found = await pageFaults(place, origin, needs, remote);
    for (const one of found.length > 0 ? found.map((one) => `no: ${one}`) : ['yes']) {
      console.log(`page    ${one}`);
    }
    if (found.length > 0) problems.push(`pages of ${origin} cannot use it`);
  }
  if (problems.length > 0) throw new Error(problems.join('; '));
  console.log(`all that a ${role} needs is granted`);
}
