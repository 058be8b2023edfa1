/**
 * Writes the objects for readers of only some rows of a layer: its new internal nodes, and its directory. The
 * layer lists both with its packs, with 0 edits: first the objects of nodes, if there are any, then the directory.
 */

import * as Status from '../../base/abi/status.js';
import { checkSignal } from '../../base/abort-signal.js';
import { concatBytes } from '../../base/bytes.js';
import { turn } from '../../base/slice-queue.js';
import { lazyCloneCalls } from '../../core/calls/lazy-clone-calls.js';
import type { Scope } from '../remote/format/cipher-suite.js';
import { objectPath } from '../remote/format/content-names.js';
import { NODE_FRAME_BYTES } from '../remote/format/format-limits.js';
import type { PackRecord } from '../remote/format/head-record.js';
import {
  encodeDirectory,
  hashPrefix,
  type NodeFrames,
  type RowFrames,
} from '../remote/format/layer-directory.js';
import { recordAt } from '../remote/format/node-records.js';
import { encodeFrames } from '../remote/format/pack-write.js';
import type { SyncContext, SyncJob } from './link-context.js';

/** A new internal node, with its facts for a directory. */
interface NewNode {
  readonly level: number;
  readonly recordBytes: Uint8Array;
  readonly hashBytes: Uint8Array;
}

/** A layer whose packs are written. */
export interface NewLayer {
  readonly from: Uint8Array;
  readonly to: Uint8Array;
  readonly packs: readonly RowFrames[];
  /** The scope of its objects. */
  readonly scope: Scope;
}

/** Puts the nodes and the directory of the layer that leads from `from` to `to`; resolves to their records. */
export async function writeDirectory(
  context: SyncContext,
  { from, to, packs, scope }: NewLayer,
  job: SyncJob,
): Promise<PackRecord[]> {
  const { remote, tools } = context;
  const { signal } = job;
  const records: PackRecord[] = [];
  const put = async (bytes: Uint8Array): Promise<void> => {
    const nameBytes = tools.hash(bytes);
    await remote.put(objectPath('p', nameBytes), bytes, { signal });
    records.push({ nameBytes, length: bytes.length, edits: 0 });
  };
  const nodes: NodeFrames[] = [];
  const top: Uint8Array[] = [];
  let group: NewNode[][] = [];
  let [frame, frameBytes, groupBytes]: [NewNode[], number, number] = [[], 0, 0];
  const endFrame = () => {
    if (frame.length > 0) group.push(frame);
    [frame, frameBytes] = [[], 0];
  };
  const endGroup = async () => {
    endFrame();
    if (group.length === 0) return;
    const plain = group.map((one) => concatBytes(one.map(({ recordBytes }) => recordBytes)));
    const object = await encodeFrames('nodes', plain, tools.random(16), tools.deflate, scope);
    await turn();
    await put(object.bytes);
    const starts = group.map((one) => one.map(({ hashBytes }) => hashPrefix(hashBytes)));
    nodes.push({ ...object.front, starts });
    [group, groupBytes] = [[], 0];
  };
  let isTop = true;
  for await (const node of newNodes(context, from, to, signal)) {
    // Nodes come from the top down: the first one may be alone on its level.
    if (isTop || node.level > 1) top.push(node.recordBytes);
    else {
      frame.push(node);
      frameBytes += node.recordBytes.length;
      groupBytes += node.recordBytes.length;
      if (frameBytes >= NODE_FRAME_BYTES) endFrame();
      if (groupBytes >= tools.packBytes) await endGroup();
    }
    isTop = false;
  }
  await endGroup();
  const topBytes = concatBytes(top);
  const directory = { packs, nodes, topBytes };
  await put(await encodeDirectory(directory, tools.random(16), tools.deflate, scope));
  return records;
}

/** Yields the internal nodes of the rows of `to` that the rows of `from` lack, from the top down. */
async function* newNodes(
  { shared, tools }: SyncContext,
  from: Uint8Array,
  to: Uint8Array,
  signal: AbortSignal | undefined,
): AsyncGenerator<NewNode, void, void> {
  const { host } = shared;
  const core = await lazyCloneCalls(host);
  const old = await shared.openView(from);
  const now = await shared.openView(to);
  const walk = core.newNodes(old.view, now.view);
  try {
    for (;;) {
      checkSignal(signal);
      const step = (budget: number) => core.stepNodes(walk, budget);
      const status = host.step(walk, performance.now(), step);
      if (status === Status.need) {
        await host.load(host.engine.readNeededParts());
        continue;
      }
      const bytes = core.bytes();
      for (let at = 0; at < bytes.length; ) {
        const { nodeBytes, end } = recordAt(bytes, at + 1);
        const recordBytes = bytes.subarray(at + 1, end);
        yield { level: bytes[at] as number, recordBytes, hashBytes: tools.hash(nodeBytes) };
        at = end;
      }
      if (status === Status.done) return;
      await turn();
    }
  } finally {
    core.free(walk);
    for (const { view } of [old, now]) host.engine.closeView(view);
  }
}
