/** Takes the patch of a pull's answer, as it arrives, into a branch. */
import type { BranchHead } from '../../engine/history/branch-head.js';
import { Reporter, takeBytes } from '../../engine/write/feed-source-to-ingest.js';
import { abandonOnError, Ingest, type Progress } from '../../engine/write/ingest.js';
import { openAsyncIterator } from '../../engine/write/row-source.js';
import type { Durability } from '../../storage/segment-store.js';
import type { HttpAnswer } from '../remote/adapters/http-exchange.js';
import { PullBody, patchFault } from '../wire/pull-response-body.js';

interface TakeOptions {
  /** Whether the patch is the whole state: no earlier rows stay. */
  readonly clears: boolean;
  readonly maxPullBytes: number;
  readonly durability: Durability;
  readonly signal: AbortSignal | undefined;
  /** Called as rows come; not for a patch without rows. */
  readonly onProgress: ((progress: Progress) => void) | undefined;
}

/** Takes the patch, and runs `commit` when all of it has come. Rejects with `remote/response` for a malformed patch. */
export async function takePatch<T>(
  head: BranchHead,
  answer: HttpAnswer,
  { clears, maxPullBytes, durability, signal, onProgress }: TakeOptions,
  commit: (body: PullBody, ingest: Ingest) => Promise<T>,
): Promise<T> {
  const body = new PullBody(answer.parts(maxPullBytes), clears);
  const bytes = { format: 'json' as const, isPatch: true };
  const isPlain = answer.header('content-encoding') === undefined;
  const total = isPlain ? Number(answer.header('content-length')) : 0;
  const ingest = await Ingest.begin(head.shared.host, head, durability, { signal, bytes });
  const source = openAsyncIterator('bytes', body.patch(), total > 0 ? total : undefined);
  const reporter = new Reporter(
    ingest,
    source,
    onProgress && ((progress) => progress.rows > 0 && onProgress(progress)),
  );
  return abandonOnError(ingest, async () => {
    try {
      await takeBytes(source, ingest, reporter, signal);
      const made = await commit(body, ingest);
      reporter.report(true);
      return made;
    } catch (cause) {
      throw patchFault(cause);
    }
  });
}
