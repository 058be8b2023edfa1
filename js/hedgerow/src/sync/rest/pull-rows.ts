/** Pulls: brings the rows of the server to its branch here, with the cookie, in one commit, and merges them. */

import type { Progress } from '../../engine/write/write-result.js';
import { takePatch } from '../link/apply-pull-patch.js';
import type { PullOptions } from '../link/connection-state.js';
import type { PullResult } from '../link/link-context.js';
import { mergeIn } from '../link/merge-remote-rows.js';
import { badResponse, type PullBody } from '../wire/pull-response-body.js';
import type { RestContext } from './rest-context.js';

/** Pulls once; resolves to `undefined` if another tab was first. It leaves everything as it was when it rejects. */
export async function pullRowsOnce(
  context: RestContext,
  job: PullOptions<Progress>,
): Promise<PullResult | undefined> {
  if (!(await bringIn(context, job))) return undefined;
  const { pulls } = context.memo.record;
  return { seq: pulls, ...(await mergeIn(context, pulls, { signal: job.signal })) };
}

/** Brings the answer to the branch of the server; resolves to `false` if another tab was first. */
async function bringIn(
  context: RestContext,
  { signal, onProgress }: PullOptions<Progress>,
): Promise<boolean> {
  const { shared, origin, memo, wire, durability, maxPullBytes } = context;
  await shared.queueWork(async () => {
    await origin.refresh();
    await memo.look();
  });
  const { cookie, pulls } = memo.record;
  const answer = await wire.send('pull', { cookie }, signal);
  if (answer.status === 204) {
    answer.drop();
    return true;
  }
  // Without a cookie, the server sends all rows.
  const how = { clears: cookie === null, maxPullBytes, durability, signal, onProgress };
  return takePatch(origin, answer, how, async (body, ingest) => {
    const record = { cookie: cookieOf(body), pulls: pulls + 1 };
    const made = await origin.exclusively(async () => {
      await memo.look();
      if (memo.record.pulls !== pulls) return undefined;
      await origin.refresh();
      return memo.together(record, (partner) => ingest.commitOnce({ partner }));
    }, signal);
    if (made === undefined) await ingest.abandon();
    return made !== undefined;
  });
}

/** Returns the cookie of an answer. */
function cookieOf(body: PullBody): unknown {
  const error = body.member('error');
  if (error !== undefined) throw badResponse(`it answers ${JSON.stringify(error)}`);
  if (!body.hasPatch) throw badResponse('it sent no patch');
  const cookie = body.member('cookie');
  // With `null` each pull would ask for all rows again.
  if (cookie === undefined || cookie === null) throw badResponse('it sent no cookie');
  return cookie;
}
