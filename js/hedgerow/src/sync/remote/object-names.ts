/**
 * The names of the objects of a remote, for all adapters and the server. Each name has one spelling, of lower case and
 * digits only, so that file systems that ignore case keep all of them apart.
 *
 *     hedgerow        what the remote holds; written once
 *     p/<64 hex>      a pack, named by the BLAKE3 of its bytes
 *     d/<64 hex>      a delta, named likewise
 *     h/<branch>      the head of a branch, percent-encoded; names that begin with ~ are no branches
 */

import { HedgerowError } from '../../base/errors.js';
import { isByteArray } from '../../base/is-byte-array.js';
import { MAX_HEAD_BYTES, MAX_HEAD_NAME, MAX_OBJECT_BYTES } from '../../base/limits.js';
import { kindOf, memberOf, shownAs } from '../../base/runtime-type-checks.js';
import type { ByteRange, ListPrefix } from './remote.js';

export type ParsedName =
  | { readonly kind: 'config' }
  | { readonly kind: 'pack' | 'delta'; readonly hash: string }
  | { readonly kind: 'head'; readonly branch: string };

const HASHED = /^([pd])\/([0-9a-f]{64})$/;
const HEAD = /^h\/(?:[a-z0-9_-]|%[0-9a-f]{2})+$/;
const PREFIX = /^[pdh]\/$/;

function refuse(what: string): never {
  throw new HedgerowError('invalid-argument', what);
}

/** Parses a name; returns `undefined` for other texts. */
export function parseName(name: string): ParsedName | undefined {
  if (typeof name !== 'string') return undefined;
  if (name === 'hedgerow') return { kind: 'config' };
  const [, letter, hash] = HASHED.exec(name) ?? [];
  if (hash !== undefined) return { kind: letter === 'p' ? 'pack' : 'delta', hash };
  if (!HEAD.test(name)) return undefined;
  try {
    const branch = decodeURIComponent(name.slice(2));
    return headName(branch) === name ? { kind: 'head', branch } : undefined;
  } catch {
    return undefined; // no UTF-8, or too long
  }
}

/** Returns the name of a branch's head. Throws `invalid-argument` if no branch has such a name, or it is too long. */
export function headName(branch: string): string {
  if (typeof branch !== 'string' || branch === '' || /\p{Surrogate}/u.test(branch)) {
    refuse('the name of a branch is well-formed text, and not empty');
  }
  // Dots, too: an address with `../..` in it leads elsewhere.
  const escaped = encodeURIComponent(branch).replace(/%..|[A-Z.!~*'()]/g, (part) =>
    part.length > 1 ? part.toLowerCase() : `%${part.charCodeAt(0).toString(16)}`,
  );
  if (escaped.length <= MAX_HEAD_NAME) return `h/${escaped}`;
  return refuse(`the name of a branch at a remote has at most ${MAX_HEAD_NAME} bytes, escaped`);
}

/** Returns whether a name is for messages between devices, in the place of a branch. */
export const isReserved = (branch: string): boolean => branch.startsWith('~');

/** Begins the names of heads that probes write and remove. A device that is killed, or may not delete, leaves one. */
export const PROBES = '~probe-';

/** Throws `invalid-argument` unless `name` names an immutable object. */
export function checkObject(name: string): void {
  const kind = parseName(name)?.kind;
  if (kind === undefined || kind === 'head')
    refuse(`${shownAs(name)} is no name of a pack or a delta`);
}

/** Throws `invalid-argument` unless `name` names an object. */
export function checkAnyName(name: string): void {
  if (parseName(name) === undefined) refuse(`${shownAs(name)} is no name of an object`);
}

/** Throws `invalid-argument` unless names can begin like this. */
export function checkPrefix(prefix: string): asserts prefix is ListPrefix {
  if (typeof prefix === 'string' && PREFIX.test(prefix)) return;
  refuse(`list takes p/, d/ or h/, not ${shownAs(prefix)}`);
}

/** Throws `invalid-argument` unless it is a range of an object. */
export function checkByteRange(range: ByteRange | undefined): void {
  if (range === undefined) return;
  const [from, to] = [memberOf(range, 'from'), memberOf(range, 'to')] as [number, number];
  const isRange = Number.isInteger(from) && from >= 0 && Number.isInteger(to) && to > from;
  if (!isRange) refuse('a range has whole numbers, and ends after its begin');
  if (to - from > MAX_OBJECT_BYTES) refuse(`a range has at most ${MAX_OBJECT_BYTES} bytes`);
}

/** Throws `invalid-argument` unless an object can have these bytes. */
export function checkBytes(name: string, bytes: Uint8Array): void {
  if (!isByteArray(bytes)) refuse(`an object of a remote is a Uint8Array, not ${kindOf(bytes)}`);
  const most = maxBytesOf(name);
  if (bytes.length > most) refuse(`${name} has ${bytes.length} bytes, of ${most} at most`);
}

/** Returns the most bytes of the object of this name. */
export function maxBytesOf(name: string): number {
  return name.startsWith('h/') ? MAX_HEAD_BYTES : MAX_OBJECT_BYTES;
}
