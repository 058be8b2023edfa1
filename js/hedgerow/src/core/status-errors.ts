/** Turns statuses of reads into errors; `write-errors.ts` has the statuses of writes. */
import * as Reply from '../base/abi/reply.js';
import * as Status from '../base/abi/status.js';
import { describeMalformedChunk } from '../base/chunk-fault-texts.js';
import { HedgerowError } from '../base/errors.js';
import { hex } from '../base/hex.js';
import type { Engine } from './engine.js';

/** Throws the error of a status. */
export function fail(engine: Engine, status: number): never {
  const word = (index: number) => engine.word(index);
  const chunk = () => hex(engine.hash(Reply.chunkFaultHash));
  switch (status) {
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
    default:
      throw new HedgerowError(
        'unavailable/storage',
        `the core answered ${status}: please report it`,
      );
  }
}
