/** The rules of entries, in a head and in a log. Their writers and readers check the same. */

import type { RemoteKind } from '../../../base/errors.js';
import { type FieldReader, unwritable } from './field-codec.js';
import {
  MAX_HEAD_ENTRIES,
  MAX_HEAD_ENTRIES_BYTES,
  MAX_INLINE_DELTA_BYTES,
  MAX_TAIL_BYTES,
} from './format-limits.js';
import { deltaLength, sameRows, type Tail, type TailEntry } from './head-record.js';
import { entriesLength, type PartOffsets } from './tail-codec.js';

/** An object that was read; without one, faults are a caller's. */
export interface TailSource {
  readonly reader: FieldReader;
  readonly places: PartOffsets;
}

/** Throws the fault at a place, unless it `holds`. */
export interface Check {
  (holds: false, place: string, what: string): never;
  (holds: boolean, place: string, what: string): void;
}

/** Makes a check that throws `remote/data` at the place in `source`, or `invalid-argument` without a source. */
export function checkerOf(object: RemoteKind, source?: TailSource): Check {
  return ((holds: boolean, place: string, what: string) => {
    if (holds) return;
    if (source) throw source.reader.fault(`${place}: ${what}`, source.places.get(place) ?? 0);
    throw unwritable(object, `${place}: ${what}`);
  }) as Check;
}

/** Returns whether a head has space for these entries. It always has space for a single one. */
export function fitsHead(tail: readonly TailEntry[]): boolean {
  const isFew = tail.length <= MAX_HEAD_ENTRIES && entriesLength(tail) <= MAX_HEAD_ENTRIES_BYTES;
  return tail.length <= 1 || isFew;
}

/** Checks entries that are in one object. */
export function checkEntries({ base, tail }: Tail, check: Check): void {
  let before = { seq: 0, rows: base };
  for (const [nth, entry] of tail.entries()) {
    const place = `tail ${nth}`;
    check(entry.seq > before.seq, place, `its seq ${entry.seq} is out of order`);
    check(!sameRows(before.rows, entry.rows), place, 'it changes nothing');
    const length = deltaLength(entry);
    const most = entry.delta.kind === 'inline' ? MAX_INLINE_DELTA_BYTES : MAX_TAIL_BYTES;
    check(length >= 1 && length <= most, place, `a delta of ${length} bytes`);
    before = entry;
  }
  check(fitsHead(tail), 'base', `${tail.length} entries that are too long for one head`);
}
