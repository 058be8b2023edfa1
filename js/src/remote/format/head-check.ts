/** The rules that hold between the parts of a head. Who writes a head and who reads one check the same. */

import { sameBytes } from '../../base/bytes.js';
import { hex } from '../../base/hex.js';
import { compareKeys } from '../../base/key.js';
import { type FieldReader, isZero, unwritable } from './cursor.js';
import {
  checkpointRows,
  deltaLength,
  FOLDERS,
  type Head,
  type PackRecord,
  packsOf,
  type Retired,
  type Rows,
} from './head.js';
import {
  MAX_INLINE_DELTA_BYTES,
  MAX_PACK_BYTES,
  MAX_RETIRED,
  MAX_SUMS,
  MAX_TAIL_BYTES,
  MAX_TAIL_ENTRIES,
} from './limits.js';

/** Where the parts of a head begin, by their names. */
export type Places = Map<string, number>;

/** A head that was read; without one, faults are those of a caller. */
interface Source {
  readonly reader: FieldReader;
  readonly places: Places;
}

type Check = (holds: boolean, place: string, what: string) => void;

/** Throws `invalid-remote` at the place in `source`, or `invalid-argument`, for the first broken rule. */
export function checkHead(head: Head, source?: Source): void {
  const check: Check = (holds, place, what) => {
    if (holds) return;
    if (source) throw source.reader.fault(`${place}: ${what}`, source.places.get(place) ?? 0);
    throw unwritable('head', `${place}: ${what}`);
  };
  if (head.sums.length > MAX_SUMS) check(false, 'sums', `${head.sums.length} of them`);
  check(head.seq >= 1, 'seq', 'it begins at 1');
  const isFirst = head.seq === 1;
  check(isZero(head.previousBytes) === isFirst, 'previous', `not that of head ${head.seq}`);
  checkCheckpoint(head, check);
  checkTail(head, check);
  checkRetired(head, check);
  for (const [nth, { name }] of head.sums.entries()) {
    const before = head.sums[nth - 1]?.name;
    const ascends = before === undefined || compareKeys(before, name) < 0;
    check(name !== '' && ascends, `sum ${nth}`, 'names do not ascend');
  }
}

/** Whether both are the same tree. */
export const sameRows = (a: Rows, b: Rows) =>
  a.count === b.count && sameBytes(a.rootBytes, b.rootBytes);

function checkCheckpoint({ seq, checkpoint }: Head, check: Check): void {
  const { generations } = checkpoint;
  check(checkpoint.seq <= seq, 'checkpoint', 'it is later than the head');
  const names = new Set<string>();
  let before = 0;
  for (const [nth, { seq: own, rows, packs }] of generations.entries()) {
    const place = `generation ${nth}`;
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
  const isLast = generations.length === 0 || before === checkpoint.seq;
  check(isLast, 'checkpoint', 'its last generation is of another head');
}

function isPack({ nameBytes, length, edits }: PackRecord): boolean {
  return !isZero(nameBytes) && length >= 1 && length <= MAX_PACK_BYTES && edits >= 1;
}

function checkTail(head: Head, check: Check): void {
  const { seq, rows, base, tail, checkpoint } = head;
  check(tail.length <= MAX_TAIL_ENTRIES, 'base', `${tail.length} entries`);
  let before = { seq: 0, rows: base };
  let total = 0;
  let reaches = base;
  for (const [nth, entry] of tail.entries()) {
    const place = `tail ${nth}`;
    check(
      entry.seq > before.seq && entry.seq <= seq,
      place,
      `its seq ${entry.seq} is out of order`,
    );
    check(!sameRows(before.rows, entry.rows), place, 'it changes nothing');
    const isOwn = entry.seq < seq || sameBytes(entry.nonceBytes, head.nonceBytes);
    check(isOwn, place, 'its nonce is not that of the head');
    const length = deltaLength(entry);
    const most = entry.delta.kind === 'inline' ? MAX_INLINE_DELTA_BYTES : MAX_TAIL_BYTES;
    check(length >= 1 && length <= most, place, `a delta of ${length} bytes`);
    total += length;
    check(total <= MAX_TAIL_BYTES, place, `deltas of more than ${MAX_TAIL_BYTES} bytes`);
    if (entry.seq <= checkpoint.seq) reaches = entry.rows;
    before = entry;
  }
  check(sameRows(before.rows, rows), 'rows', 'the tail does not end at them');
  check(
    sameRows(reaches, checkpointRows(checkpoint)),
    'checkpoint',
    'the tail does not lead on from it',
  );
}

const rankOf = ({ folder }: Retired) => FOLDERS.indexOf(folder);

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const at = a.findIndex((byte, nth) => byte !== b[nth]);
  return at < 0 ? 0 : (a[at] as number) - (b[at] as number);
}

function compareRetired(a: Retired, b: Retired): number {
  if (a.seq !== b.seq) return a.seq - b.seq;
  if (a.folder !== b.folder) return rankOf(a) - rankOf(b);
  return compareBytes(a.nameBytes, b.nameBytes);
}

/** Retired objects in the order in which a head has them: the newest, as many as it may list. */
export function inOrder(retired: readonly Retired[]): Retired[] {
  return retired.slice().sort(compareRetired).slice(-MAX_RETIRED);
}

/** The objects that a head needs, each as a text of its folder and name. */
function liveIn({ checkpoint, tail }: Head): Set<string> {
  const live = new Set(packsOf(checkpoint).map(({ nameBytes }) => `p/${hex(nameBytes)}`));
  for (const { delta } of tail) if (delta.kind === 'object') live.add(`d/${hex(delta.nameBytes)}`);
  return live;
}

function checkRetired(head: Head, check: Check): void {
  const known = liveIn(head);
  if (head.retired.length > MAX_RETIRED)
    check(false, 'retired 0', `${head.retired.length} of them`);
  for (const [nth, one] of head.retired.entries()) {
    const place = `retired ${nth}`;
    const before = head.retired[nth - 1];
    check(!before || compareRetired(before, one) < 0, place, 'it is out of order');
    check(one.seq >= 1 && one.seq <= head.seq, place, `its seq is ${one.seq}`);
    check(one.stamp === undefined || one.seq < head.seq, place, 'a stamp that nobody can know yet');
    const name = `${one.folder}/${hex(one.nameBytes)}`;
    check(!known.has(name), place, 'it is in use, or named twice');
    known.add(name);
  }
}
