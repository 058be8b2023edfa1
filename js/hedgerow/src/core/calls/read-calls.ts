/** Calls for reads of views, and their replies. */

import * as ReadFlag from '../../base/abi/read-flag.js';
import * as Reply from '../../base/abi/reply.js';
import * as Status from '../../base/abi/status.js';
import * as ValueKind from '../../base/abi/value-kind.js';
import { HedgerowError } from '../../base/errors.js';
import type { Exactly } from '../../base/exhaustive-members-type.js';
import type { EncodedRange } from '../../base/range.js';
import type { Engine, Op } from '../engine.js';
import { fail } from '../status-errors.js';

/** The range of a scan, and how to read it. */
export interface ScanCall {
  /** A range of rows, or of an index: see `indexes/index-set.ts`. */
  readonly range: EncodedRange;
  /** The wanted members of each row: `ReadFlag.keys`, `values`, `secondary`. */
  readonly parts: number;
  readonly reverse: boolean;
  /** The number of rows to skip at the start of the range. */
  readonly offset: number;
  readonly limit: number;
}

/** Looks up a key, which the caller has checked, and returns a status; then `found` returns the value. */
export function get(engine: Engine, view: number, key: string): number {
  const status = engine.core.get(engine.own(view), passKey(engine, key));
  engine.noteSuccess();
  return status;
}

/** Passes a key. For short ASCII keys a loop is more than twice as fast as `encodeInto`. */
function passKey(engine: Engine, key: string): number {
  const { length } = key;
  if (length > 48) return engine.passText(key);
  const at = engine.scratch(length * 3);
  const { memory } = engine;
  for (let index = 0; index < length; index++) {
    const unit = key.charCodeAt(index);
    if (unit > 0x7f) return engine.passText(key);
    memory[at + index] = unit;
  }
  return length;
}

/** Returns the value in the reply to `get`; `undefined` if the key is absent. */
export function readFoundValue(engine: Engine): unknown {
  const bytes = engine.memory;
  const kind = engine.word(Reply.valueKind);
  if (kind === ValueKind.absent) return undefined;
  const address = engine.word(Reply.valueAddress);
  const value = bytes.subarray(address, address + engine.word(Reply.valueLength));
  return kind === ValueKind.bytes ? value.slice() : parse(engine, value);
}

function parse(engine: Engine, bytes: Uint8Array): unknown {
  try {
    return JSON.parse(engine.decode(bytes));
  } catch (cause) {
    throw new HedgerowError('corrupt-chunk', 'a stored value is not JSON', { cause });
  }
}

/** Starts a search for many keys. */
export function find(engine: Engine, view: number, keys: readonly string[]): Op {
  const op = engine.core.find(engine.own(view), engine.passText(JSON.stringify(keys)));
  return op >>> 0 === Status.noOp ? fail(engine, Status.row) : engine.toHandle(op);
}

/** Reads the positions in the reply to a find. */
export function positions(engine: Engine): Uint32Array {
  const { buffer } = engine.memory;
  const count = engine.word(Reply.outputPositionCount);
  return new Uint32Array(buffer, engine.word(Reply.outputPositions), count).slice();
}

/** Starts a scan. */
export function scan(
  engine: Engine,
  view: number,
  {
    range: { flags, rangeBytes },
    parts,
    reverse,
    offset,
    limit,
  }: Exactly<ScanCall, 'range' | 'parts' | 'reverse' | 'offset' | 'limit'>,
): Op {
  engine.pass(rangeBytes);
  const allFlags = flags | parts | (reverse ? ReadFlag.reverse : 0);
  const { core } = engine;
  return engine.toHandle(core.scan(engine.own(view), allFlags, rangeBytes.length, offset, limit));
}

/** Starts a count of a range; then `readCountReply` returns the number. */
export function startCount(engine: Engine, view: number, { flags, rangeBytes }: EncodedRange): Op {
  engine.pass(rangeBytes);
  return engine.toHandle(engine.core.count(engine.own(view), flags, rangeBytes.length));
}

/** Reads the number in the reply to a count. */
export function readCountReply(engine: Engine): number {
  return engine.word(Reply.countRows);
}

/** Starts a diff of two views over a range. */
export function diffViews(
  engine: Engine,
  from: number,
  to: number,
  { flags, rangeBytes }: EncodedRange,
): Op {
  engine.pass(rangeBytes);
  const [oldView, newView] = [engine.own(from), engine.own(to)];
  return engine.toHandle(engine.core.diff(oldView, newView, flags, rangeBytes.length));
}

/**
 * Returns the members of the output in the reply: keys, values, and codes or secondary keys. Values come as a separate
 * text, so that a value that is not JSON cannot add a key; `null` marks their places, and `[]` stands for a secondary
 * key that is null.
 */
export function output(engine: Engine): unknown[] {
  const { memory } = engine;
  const word = (index: number) => engine.word(index);
  const array = (address: number, length: number) =>
    parse(engine, memory.subarray(address, address + length)) as unknown[];
  const values = array(word(Reply.outputText), word(Reply.outputTextLength));
  if (values.length !== word(Reply.outputValueCount)) {
    throw new HedgerowError('corrupt-chunk', 'a stored value is not one JSON value');
  }
  const markCount = word(Reply.outputMarkCount);
  const marks = new Uint32Array(memory.buffer, word(Reply.outputMarks), 3 * markCount);
  for (let mark = 0; mark < marks.length; mark += 3) {
    const [value, start, length] = [marks[mark], marks[mark + 1], marks[mark + 2]];
    const at = word(Reply.outputBytes) + (start ?? 0);
    values[value ?? 0] = memory.slice(at, at + (length ?? 0));
  }
  const keysLength = word(Reply.outputKeysLength);
  if (keysLength === 0) return values;
  const members = array(word(Reply.outputKeys), keysLength);
  if (values.length > 0) {
    for (let at = 0, next = 0; at < members.length; at++) {
      const member = members[at];
      if (member === null) members[at] = values[next++];
      // A secondary key that is null.
      else if (Array.isArray(member) && member.length === 0) members[at] = null;
    }
  }
  return members;
}

/** Returns the record of a sum tree in a commit: see `core/sum-tree-root.ts`. */
export function total(engine: Engine, view: number, name: string): Uint8Array {
  engine.core.total(engine.own(view), engine.passText(name));
  return engine.replyBytes();
}
