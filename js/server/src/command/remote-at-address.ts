/** Makes the remote at an address; no other file makes one from the arguments of a command. */

import type { FetchFunction } from 'hedgerow/kit';
import { httpRemote, type Remote, s3Remote } from 'hedgerow/sync';
import { folderRemote } from '../folder/folder-remote.js';
import {
  applySigningKeys,
  folderAt,
  process,
  token,
  UsageError,
} from './arguments-and-environment.js';

/** The argument of `remoteAt`, as a usage names it. */
export const ADDRESS = '<url, s3://bucket/prefix or folder of the remote>';

export const S3_USAGE = `A bucket is that of AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL, or else Amazon's in AWS_REGION, with the keys AWS_ACCESS_KEY_ID,
AWS_SECRET_ACCESS_KEY and, if they are temporary, AWS_SESSION_TOKEN.`;

/** Splits `s3://bucket/prefix`; returns `undefined` for any other address. */
export function bucketAt(place: string): { bucket: string; prefix: string } | undefined {
  const [, bucket, path] = /^s3:\/\/([\w.-]+)(?:\/+(.*?))?\/*$/i.exec(place) ?? [];
  return bucket === undefined ? undefined : { bucket, prefix: path ? `${path}/` : '' };
}

/** Reads the options of `s3Remote` from the environment. Throws a `UsageError` if keys are missing. */
function s3Options(bucket: string) {
  const { env } = process;
  const region = env.AWS_REGION || env.AWS_DEFAULT_REGION || 'us-east-1';
  const own = env.AWS_ENDPOINT_URL_S3 || env.AWS_ENDPOINT_URL || undefined;
  const [accessKeyId, secretAccessKey] = [env.AWS_ACCESS_KEY_ID, env.AWS_SECRET_ACCESS_KEY];
  if (!accessKeyId || !secretAccessKey) {
    const missing = accessKeyId ? 'AWS_SECRET_ACCESS_KEY' : 'AWS_ACCESS_KEY_ID';
    throw new UsageError(`s3://${bucket} needs keys: the environment has no ${missing}`);
  }
  return {
    endpoint: own ?? `https://s3.${region}.amazonaws.com`,
    // Other stores have no host name for each bucket, and no certificate fits a bucket name with a dot.
    pathStyle: own !== undefined || bucket.includes('.'),
    ...{ bucket, region },
    credentials: { accessKeyId, secretAccessKey, sessionToken: env.AWS_SESSION_TOKEN || undefined },
  };
}

/** Returns the kind of remote at this address. */
export function kindAt(place: string): 'bucket' | 'server' | 'folder' {
  if (bucketAt(place) !== undefined) return 'bucket';
  return /^https?:/i.test(place) ? 'server' : 'folder';
}

/** Makes the remote at an address, without signatures; `fetch` replaces the platform's own. */
export function plainRemoteAt(place: string, fetch?: FetchFunction): Remote {
  const s3 = bucketAt(place);
  if (s3 !== undefined) return s3Remote({ ...s3Options(s3.bucket), ...s3, fetch });
  if (kindAt(place) === 'folder') return folderRemote(folderAt(place));
  return httpRemote({ url: place, token: token(), fetch });
}

/** Makes the remote at an address, with signed heads if the environment has keys for them. */
export const remoteAt = async (place: string): Promise<Remote> =>
  applySigningKeys(plainRemoteAt(place));

/** Throws if there is no remote at a place. */
export async function checkThere(place: string, remote: Remote): Promise<void> {
  if ((await remote.get('hedgerow')) === undefined) throw new Error(`there is nothing at ${place}`);
}
