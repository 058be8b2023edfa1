/** Turns statuses of the core into errors. */
import * as Reply from '../base/abi/reply.js';
import * as Status from '../base/abi/status.js';
import { describeMalformedChunk, isKeyFault, rowFault } from '../base/core-fault-texts.js';
import { HedgerowError } from '../base/errors.js';
import { hex } from '../base/hex.js';
import { MAX_TREES } from '../base/limits.js';
import type { Engine } from './engine.js';

const TOO_MANY_TREES = `a commit names at most ${MAX_TREES} trees (rows, indexes, sum trees), in 512 KiB: drop some`;

/** Throws the error of a status. With `isBytes`, rows come as bytes, and row faults have offsets. */
export function fail(engine: Engine, status: number, isBytes = false): never {
  const word = (index: number) => engine.word(index);
  const chunk = () => hex(engine.hash(Reply.chunkFaultHash));
  switch (status) {
    case Status.row: {
      const row = word(Reply.rowFaultRow);
      const fault = word(Reply.rowFaultFault);
      if (isBytes) {
        const offset = word(Reply.rowFaultOffset);
        const message = `row ${row}, byte ${offset}: ${rowFault(fault)}`;
        throw new HedgerowError('invalid-data/row', message, { row, offset });
      }
      const code = isKeyFault(fault) ? 'invalid-argument/key' : 'invalid-argument/value';
      throw new HedgerowError(code, `row ${row}: ${rowFault(fault)}`, { row });
    }
    case Status.missingChunk:
      throw new HedgerowError('missing-chunk', `chunk ${chunk()} was compacted away, or lost`, {
        chunk: chunk(),
      });
    case Status.corruptChunk: {
      const field = word(Reply.chunkFaultField);
      const [offset, expected, got] = [
        word(Reply.chunkFaultOffset),
        word(Reply.chunkFaultExpected),
        word(Reply.chunkFaultGot),
      ];
      const what =
        field < 0
          ? 'does not have its hash'
          : `is ${describeMalformedChunk(field, offset, expected, got)}`;
      throw new HedgerowError('corrupt-chunk', `chunk ${chunk()} ${what}: see repair()`, {
        chunk: chunk(),
      });
    }
    case Status.unsupportedFormat:
      throw new HedgerowError('newer-version/format', 'written by a newer version: update the app');
    case Status.invalidProof:
      throw new HedgerowError('invalid-data/proof', 'it does not prove this under this root');
    case Status.proofTooLarge:
      throw new HedgerowError('invalid-argument', 'its proof would take more than 128 MiB');
    case Status.commitTooLarge:
      throw new HedgerowError('invalid-argument', TOO_MANY_TREES);
    default:
      throw new HedgerowError(
        'unavailable/storage',
        `the core answered ${status}: please report it`,
      );
  }
}
