/** Connects a store to a server of plain rows. Loaded by `db.connect(rest())`. */

import { checkStoreName, optionsOf } from '../../base/check-options.js';
import { stringify } from '../../base/check-value.js';
import { HedgerowError } from '../../base/errors.js';
import { untilWon } from '../../base/pauses.js';
import { isPlain, kindOf } from '../../base/runtime-type-checks.js';
import { BranchHead } from '../../engine/history/branch-head.js';
import { refOfBranch } from '../../engine/history/branch-name.js';
import { EMPTY_COMMIT } from '../../engine/history/known-segments-and-refs.js';
import { ConflictLog } from '../link/conflict-log.js';
import { checkPolicy, type SentRow } from '../link/conflict-policy.js';
import { buildLinkNames, originOf } from '../link/link-ref-names.js';
import { SyncRefs } from '../link/link-state.js';
import type { SyncHost } from '../link/linked-store-types.js';
import { makeBranches } from '../link/make-branches.js';
import { isResponse } from '../wire/app-request-function.js';
import { Wire } from '../wire/app-server-client.js';
import {
  type Endpoint,
  MAX_PULL_BYTES,
  MAX_PUSH_BYTES,
  type WireOptions,
  wireFaults,
} from '../wire/app-server-options.js';
import { badResponse } from '../wire/pull-response-body.js';
import type { RestTransport } from './index.js';
import { PullCookieStore, valueAt } from './pull-cookie-store.js';
import { RestConnection } from './rest-connection.js';
import type { RestContext } from './rest-context.js';
import { REST_OPTIONS, type RestOptions } from './rest-options.js';
import type { RestEndpoint } from './types.js';

/** Connects a store to a server of plain rows. */
export async function connectRest(
  store: SyncHost,
  { options: given }: RestTransport,
): Promise<RestConnection> {
  const options = optionsOf('rest', given, REST_OPTIONS);
  const { name = 'server', policy = 'fields' } = options;
  const { maxPullBytes = MAX_PULL_BYTES, maxPushBytes = MAX_PUSH_BYTES } = options;
  const wireOptions = wireOptionsOf(options);
  const faults = wireFaults({ ...wireOptions, maxPullBytes, maxPushBytes });
  if (faults.length > 0) throw new HedgerowError('invalid-argument', `rest: ${faults.join('; ')}`);
  checkStoreName(name);
  checkPolicy(policy);
  const { shared, branchName } = store;
  const { durability = store.durability } = options;
  const names = buildLinkNames(name, branchName);
  const refs = new SyncRefs(shared, names);
  const memoRef = `${names.origin}/state`;
  const memo = new PullCookieStore(shared, memoRef, durability);
  await refs.look();
  if (refs.bytes('ids') !== undefined) {
    throw new HedgerowError('invalid-argument', `rest: ${name} is the name of a remote`);
  }
  const isNew = refs.bytes('origin') === undefined;
  if (isNew || refs.bytes('fork') === undefined) {
    await refs.move({ origin: EMPTY_COMMIT, fork: EMPTY_COMMIT }, durability);
  }
  await makeBranches(shared, [memoRef], durability);
  const origin = new BranchHead(shared, names.origin);
  const local = new BranchHead(shared, refOfBranch(branchName));
  origin.isBare = true;
  const heads = [origin, local, memo.head];
  try {
    for (const head of heads) await shared.queueWork(() => head.refresh());
    if (isNew) await forgetCookie(origin, memo);
    // For the first state. The first call finds a failure again.
    else await shared.queueWork(() => memo.look()).catch(() => {});
  } catch (cause) {
    for (const head of heads) head.leave();
    throw cause;
  }
  const context: RestContext = {
    ...{
      store,
      shared,
      refs,
      local,
      origin,
      memo,
      options,
      policy,
      durability,
      maxPullBytes,
      maxPushBytes,
    },
    originName: originOf(name),
    log: new ConflictLog(shared, refs, durability),
    wire: new Wire(wireOptions),
    sent: (key) => sentRow(context, key),
    settle: () => store.settle(),
  };
  return new RestConnection(context, name);
}

/** Forgets the cookie of rows that a repair has deleted, if there is one: the next pull brings all rows. */
function forgetCookie(origin: BranchHead, memo: PullCookieStore): Promise<boolean> {
  return origin.exclusively(() =>
    untilWon(async () => {
      await memo.look();
      const { cookie, pulls } = memo.record;
      return cookie === null || (await memo.move({ cookie: null, pulls })) || undefined;
    }, 'others wrote what is known of the server'),
  );
}

/** Resolves to the row of a push whose answer has not come. */
async function sentRow({ shared, refs }: RestContext, key: string): Promise<SentRow | undefined> {
  const commitBytes = refs.bytes('pushing');
  if (!commitBytes?.some(Boolean)) return undefined;
  return { value: await valueAt(shared, commitBytes, key) };
}

/** Wraps functions, which may answer with an object instead of a `Response`. */
function wireOptionsOf({ pull, push, auth }: RestOptions): WireOptions {
  const one = <Request>(
    endpoint: RestEndpoint<Request, unknown>,
    members: readonly string[],
  ): Endpoint<Request> =>
    typeof endpoint === 'function'
      ? async (request, how) => responseOf(await endpoint(request, how), members)
      : endpoint;
  return { pull: one(pull, ['cookie', 'patch']), push: one(push, ['refused']), auth };
}

/** Makes the response of a function. It may answer with an object of some `members`; another one is no consent. */
function responseOf(answer: unknown, members: readonly string[]): Response {
  if (answer === undefined || answer === null) return new Response(null, { status: 204 });
  if (isResponse(answer)) return answer;
  const other = isPlain(answer) ? Object.keys(answer).find((name) => !members.includes(name)) : '';
  if (other === undefined) return new Response(stringify(answer));
  const what = other === '' ? kindOf(answer) : `an object with ${other}`;
  throw badResponse(`a function gave ${what}, not a Response, or { ${members.join(', ')} }`);
}
