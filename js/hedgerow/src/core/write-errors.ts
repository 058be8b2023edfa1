/** Turns the statuses of writes into errors: refused rows, and commits that are too large. */
import * as Reply from '../base/abi/reply.js';
import * as Status from '../base/abi/status.js';
import { HedgerowError } from '../base/errors.js';
import { MAX_TREES } from '../base/limits.js';
import { isKeyFault, rowFault } from '../base/row-fault-texts.js';
import type { Engine } from './engine.js';
import { fail } from './status-errors.js';

/** Throws the error of a status. With `isBytes`, rows come as bytes, and row faults have offsets. */
export function failWrite(engine: Engine, status: number, isBytes = false): never {
  if (status === Status.commitTooLarge) {
    const message = `a commit names at most ${MAX_TREES} trees (rows, indexes, sum trees), in 512 KiB: drop some`;
    throw new HedgerowError('invalid-argument', message);
  }
  if (status !== Status.row) fail(engine, status);
  const row = engine.word(Reply.rowFaultRow);
  const fault = engine.word(Reply.rowFaultFault);
  if (isBytes) {
    const offset = engine.word(Reply.rowFaultOffset);
    const message = `row ${row}, byte ${offset}: ${rowFault(fault)}`;
    throw new HedgerowError('invalid-data/row', message, { row, offset });
  }
  const code = isKeyFault(fault) ? 'invalid-argument/key' : 'invalid-argument/value';
  throw new HedgerowError(code, `row ${row}: ${rowFault(fault)}`, { row });
}
