/** The rules between the parts of a head. Writers and readers of heads check the same. */

import { sameBytes } from '../../../base/bytes.js';
import { hex } from '../../../base/hex.js';
import { compareKeys } from '../../../base/key.js';
import { type Check, checkEntries, checkerOf, type TailSource } from './check-tail-entries.js';
import { isZero } from './field-codec.js';
import {
  MAX_BLOCK_BYTES,
  MAX_BLOCK_PUSHES,
  MAX_LOG_BYTES,
  MAX_LOGS,
  MAX_PACK_BYTES,
  MAX_SUMS,
  MAX_TAIL_BYTES,
  MAX_TAIL_ENTRIES,
} from './format-limits.js';
import {
  type Checkpoint,
  checkpointRows,
  deltaLengths,
  type HeadRecord,
  type PackRecord,
  sameRows,
} from './head-record.js';

/** Throws `remote/data` at the place in `source`, or `invalid-argument`, for the first broken rule. */
export function checkHead(head: HeadRecord, source?: TailSource): void {
  const check = checkerOf('head', source);
  if (head.sums.length > MAX_SUMS) check(false, 'sums', `${head.sums.length} of them`);
  check(head.seq >= 1, 'seq', 'it begins at 1');
  const isFirst = head.seq === 1;
  check(isZero(head.previousBytes) === isFirst, 'previous', `not that of head ${head.seq}`);
  checkCheckpoint(head, check);
  checkTail(head, check);
  for (const [nth, { name }] of head.sums.entries()) {
    const before = head.sums[nth - 1]?.name;
    const ascends = before === undefined || compareKeys(before, name) < 0;
    check(name !== '' && ascends, `sum ${nth}`, 'names do not ascend');
  }
}

function checkCheckpoint({ seq, checkpoint }: HeadRecord, check: Check): void {
  const { layers } = checkpoint;
  check(checkpoint.seq <= seq, 'checkpoint', 'it is later than the head');
  checkHistory(checkpoint, check);
  const names = new Set<string>();
  let before = 0;
  for (const [nth, { seq: own, rows, packs }] of layers.entries()) {
    const place = `layer ${nth}`;
    check(own > before && own <= checkpoint.seq, place, `its seq ${own} is out of order`);
    check(packs.length > 0 && !isZero(rows.rootBytes), place, 'it has no packs or no rows');
    before = own;
    for (const pack of packs) {
      const name = hex(pack.nameBytes);
      check(isPack(pack), `pack ${names.size}`, 'no pack is so');
      check(!names.has(name), `pack ${names.size}`, 'it is named twice');
      names.add(name);
    }
  }
  const isLast = layers.length === 0 || before === checkpoint.seq;
  check(isLast, 'checkpoint', 'its last layer is of another head');
}

function checkHistory({ seq, nonceBytes, history }: Checkpoint, check: Check): void {
  const isNone = seq === 0;
  check(isZero(nonceBytes) === isNone, 'checkpoint', `not the nonce of head ${seq}`);
  check((history.length === 0) === isNone, 'checkpoint', `${history.length} blocks of history`);
  let before = 0;
  for (const [nth, block] of history.entries()) {
    const { pushes, length } = block;
    const place = `block ${nth}`;
    check(block.seq > before, place, `its seq ${block.seq} is out of order`);
    check(pushes >= 1 && pushes <= MAX_BLOCK_PUSHES, place, `${pushes} pushes`);
    check(length >= 1 && length <= MAX_BLOCK_BYTES, place, `${length} bytes`);
    before = block.seq + pushes - 1;
    check(before <= seq, place, 'it is later than the checkpoint');
  }
}

function isPack({ nameBytes, length, edits }: PackRecord): boolean {
  return !isZero(nameBytes) && length >= 1 && length <= MAX_PACK_BYTES && edits >= 0;
}

function checkTail(head: HeadRecord, check: Check): void {
  const { seq, rows, base, tail, checkpoint } = head;
  checkEntries(head, check);
  const last = tail[tail.length - 1];
  if (last !== undefined) {
    const place = `tail ${tail.length - 1}`;
    check(last.seq <= seq, place, `its seq ${last.seq} is out of order`);
    const isOwn = last.seq < seq || sameBytes(last.nonceBytes, head.nonceBytes);
    check(isOwn, place, 'its nonce is not that of the head');
  }
  check(sameRows(last?.rows ?? base, rows), 'rows', 'the tail does not end at them');
  checkLogs(head, check);
  // If the checkpoint is older than the tail, the logs show whether they lead through it.
  const past = tail.filter((entry) => entry.seq <= checkpoint.seq);
  if (past.length === 0 && head.logs.length > 0) return;
  const reaches = past[past.length - 1]?.rows ?? base;
  const isOn = sameRows(reaches, checkpointRows(checkpoint));
  check(isOn, 'checkpoint', 'the tail does not lead on from it');
}

function checkLogs({ logs, tail }: HeadRecord, check: Check): void {
  let [entries, total] = [tail.length, deltaLengths(tail)];
  const last = `log ${logs.length - 1}`;
  check(logs.length <= MAX_LOGS, last, `${logs.length} of them`);
  check(logs.length === 0 || tail.length > 0, last, 'there is no tail behind it');
  for (const [nth, log] of logs.entries()) {
    const place = `log ${nth}`;
    const next = logs[nth + 1] ?? tail[0];
    const hasSpace = log.seq + log.entries <= (next?.seq ?? 0);
    check(log.seq >= 1 && hasSpace, place, `its seq ${log.seq} is out of order`);
    check(log.length >= 1 && log.length <= MAX_LOG_BYTES, place, `${log.length} bytes`);
    const isLog = log.entries >= 1 && log.deltaBytes >= log.entries;
    check(isLog, place, `${log.entries} entries with ${log.deltaBytes} bytes`);
    entries += log.entries;
    total += log.deltaBytes;
  }
  check(entries <= MAX_TAIL_ENTRIES, last, `${entries} entries`);
  check(total <= MAX_TAIL_BYTES, logs.length > 0 ? last : 'base', `deltas of ${total} bytes`);
}
