/** Reads the refusals of servers of Replicache. */
import { HedgerowError } from '../../base/errors.js';
import { badResponse } from '../wire/pull-response-body.js';

/** The refusal of an answer, if any: this store is unknown, or its version. */
export type PullRefusal = 'unknown-client' | HedgerowError | undefined;

/** Returns the refusal among the members of an answer, if any. */
export function refusalOf(member: (name: string) => unknown): PullRefusal {
  const error = member('error');
  if (error === undefined) return undefined;
  if (error === 'ClientStateNotFound') return 'unknown-client';
  if (error !== 'VersionNotSupported') return badResponse(`it answers ${JSON.stringify(error)}`);
  const type = member('versionType');
  const what = typeof type === 'string' ? ` of ${type}` : '';
  return new HedgerowError(
    'newer-version/format',
    `it refuses this version${what}: update the app`,
  );
}
