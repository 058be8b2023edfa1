/** Changes of sum trees that are written by hand. */

import { checkSignal } from '../../base/abort-signal.js';
import { AbortableWait } from '../../base/abortable-wait.js';
import { notify } from '../../base/call-callback-safely.js';
import { HedgerowError } from '../../base/errors.js';
import { turn } from '../../base/slice-queue.js';
import { total } from '../../core/calls/read-calls.js';
import { sumTreeCalls } from '../../core/calls/sum-tree-calls.js';
import type { Host } from '../../core/operation-host.js';
import type { SumChangeOptions, SumPutOptions } from '../../core/sum-tree-options.js';
import { rootOf, toldDefinition } from '../../core/sum-tree-root.js';
import type { SumKey, SumResult, SumRoot } from '../../core/sum-tree-types.js';
import type { Durability } from '../../storage/segment-store.js';
import type { ReadContext } from '../read/context.js';
import { abandonOnError, Ingest } from '../write/ingest.js';
import { openSource } from '../write/row-source.js';
import { isAtHand, type Source } from '../write/source-kind.js';
import { itemOf, LeafPacker } from './sum-leaf-packer.js';

/** Leaves between two reads of the clock. */
const CLOCK_LEAVES = 32;

/** Options of a change, with their defaults. */
type DurableOptions<Options> = Options & { readonly durability: Durability };

/** Puts leaves in one commit. The caller has checked the options. */
export async function putSumLeaves<Row>(
  from: ReadContext,
  name: string,
  source: Source<Row>,
  options: DurableOptions<SumPutOptions<Row>>,
): Promise<SumResult> {
  const item = itemOf<Row>(options);
  return change(from, name, source, options, (packer, row) => packer.put(item(row)));
}

/** Deletes leaves in one commit. The caller has checked the options. */
export async function deleteSumLeaves(
  from: ReadContext,
  name: string,
  keys: Source<SumKey>,
  options: DurableOptions<SumChangeOptions>,
): Promise<SumResult> {
  return change(from, name, keys, options, (packer, key) => packer.delete(key));
}

async function change<Row>(
  from: ReadContext,
  name: string,
  source: Source<Row>,
  options: DurableOptions<SumPutOptions<Row>>,
  add: (packer: LeafPacker, row: Row) => void,
): Promise<SumResult> {
  const { host, branchHead } = from;
  const { durability, signal } = options;
  checkSignal(signal);
  const startMs = performance.now();
  const bulk = branchHead.bulks.begin(isAtHand(source));
  try {
    const ingest = await Ingest.begin(host, branchHead, durability, {
      signal,
      bulk,
      isUpkeep: true,
    });
    return await abandonOnError(ingest, async () => {
      const sums = await sumTreeCalls(host);
      const totalBytes = () => total(host.engine, branchHead.head.view, name);
      if (toldDefinition(totalBytes()) !== '' || host.sums?.has(name)) {
        throw new HedgerowError(
          'invalid-argument',
          `the sum tree ${name} follows rows: change these instead`,
        );
      }
      const packer = new LeafPacker();
      const stage = () => {
        sums.stage(ingest.op, name, packer.take());
        notify(options.onProgress, { leaves: packer.leaves });
      };
      const adding = (row: Row) => add(packer, row);
      await take(source, ingest, options, host.sliceMs, adding, packer, stage);
      stage();
      await ingest.commit();
      const root = await rootAfter(host, totalBytes);
      const { slices, longestSliceMs } = ingest.times;
      const ms = performance.now() - startMs;
      return { root, leaves: packer.leaves, stats: { ms, slices, longestSliceMs } };
    });
  } finally {
    bulk.end();
  }
}

/** Returns the root after a commit. A trap does not undo a commit: recover and read again. */
async function rootAfter(host: Host, totalBytes: () => Uint8Array): Promise<SumRoot> {
  for (;;) {
    if (!host.engine.isReady) await host.recover();
    try {
      return rootOf(totalBytes());
    } catch (cause) {
      if (host.engine.isReady) throw cause;
    }
  }
}

/** Takes rows slice by slice. An aborted signal or a trap of the core ends the wait for a source. */
async function take<Row>(
  source: Source<Row>,
  ingest: Ingest,
  { signal }: SumChangeOptions,
  sliceMs: number,
  add: (row: Row) => void,
  packer: LeafPacker,
  stage: () => void,
): Promise<void> {
  const wait = new AbortableWait(signal);
  const stop = ingest.onLost((cause) => wait.fail(cause));
  const opening = openSource(source, signal, false);
  let startMs = performance.now();
  const addPaced = async (row: Row) => {
    add(row);
    const isLate = packer.leaves % CLOCK_LEAVES === 0 && performance.now() - startMs > sliceMs / 2;
    if (!packer.isFull && !isLate) return;
    stage();
    await turn();
    checkSignal(signal);
    startMs = performance.now();
  };
  try {
    const opened = await wait.for(opening);
    if (opened.kind === 'bytes') {
      throw new HedgerowError(
        'invalid-argument',
        'leaves must come from an iterable, not as bytes',
      );
    }
    for (;;) {
      const step = opened.isAsync ? await wait.for(opened.read()) : opened.read();
      if (step.done) return;
      await addPaced(step.value);
    }
  } catch (cause) {
    opening.then(
      ({ end }) => end(),
      () => {},
    );
    throw cause;
  } finally {
    stop();
    wait.end();
  }
}
