/** Loads many rows of a table. */

import type { ByteSource } from '../../base/byte-source.js';
import { HedgerowError, kindOfError } from '../../base/errors.js';
import { LOOK } from '../../base/internal-symbols.js';
import { isPart } from '../../base/is-byte-array.js';
import { isList, isRevoked } from '../../base/runtime-type-checks.js';
import type { LoadOptions } from '../../engine/write/bulk-options.js';
import type { Progress, WriteResult } from '../../engine/write/ingest.js';
import type { Source } from '../../engine/write/source-kind.js';
import type { Store } from '../store.js';
import { pointerTo } from './column-json-pointer.js';
import { namedError, throwTableError } from './errors.js';
import { iterateSource, mapArray, mapBytes, mapRows } from './map-row-iterators.js';
import { loadRowsIn, loadSources } from './on-demand-table-code.js';
import { makeVersionCheck } from './refuse-newer-rows.js';
import type { Spec } from './spec.js';

/**
 * Puts the rows of a source. Bytes go to the store as they are if the table keeps keys and values as rows have them.
 */
export async function loadTableRows(
  db: Store,
  spec: Spec,
  source: Source<unknown> | ByteSource,
  options: LoadOptions,
): Promise<WriteResult> {
  if (isRevoked(source))
    throwTableError(spec.name, 'putMany takes rows or bytes, not a revoked proxy');
  const { format, signal, onProgress, ...others } = options;
  const isAsStored = spec.isAsStored && spec.keys.isPlain;
  const column = spec.keys.columns[0] as string;
  const keys = isAsStored
    ? { key: pointerTo(column), prefix: spec.prefix, [LOOK]: makeVersionCheck(spec) }
    : {};
  let at = 0;
  const make = (row: unknown) => {
    try {
      const { key, value } = spec.encode(row);
      at += 1;
      return isAsStored ? value : [key, value];
    } catch (cause) {
      throw errorOf(spec, row, at, cause);
    }
  };
  const put = (rows: unknown, given: object) => db.putMany(rows as Source<unknown>, given);
  try {
    // In the turn of the call, as for bytes that the store takes: bulk changes commit in the order of their calls.
    if (Array.isArray(source) && !isPart(source[0])) {
      const { length } = source;
      const told = fractions(onProgress, () => (length > 0 ? at / length : 1));
      const rows = mapArray(source, make);
      return await put(rows, { ...options, ...keys, onProgress: told });
    }
    const isOfBytes = isPart(source) || !isList(source);
    if (isAsStored && isOfBytes) return await put(source, { ...options, ...keys });
    const { openSource } = await loadSources();
    const opened = await openSource(source, signal, true, format !== undefined);
    if (opened.kind === 'rows') return await put(mapRows(opened, make), { ...options, ...keys });
    // An empty source still counts as bytes.
    if (isAsStored) return await put(iterateSource(opened), { format, ...options, ...keys });
    const { RowsIn } = await loadRowsIn();
    const rows = new RowsIn(format);
    const { total = 0 } = opened;
    const told = total > 0 ? fractions(onProgress, () => rows.bytes / total) : onProgress;
    return await put(mapBytes(opened, rows, make), { ...others, signal, onProgress: told });
  } catch (cause) {
    const { row } = cause as { row?: number };
    const isKnown = Array.isArray(source) && row !== undefined;
    throw namedError(cause, spec.name, isKnown ? spec.shownKey(source[row]) : undefined);
  }
}

/** Returns `onProgress` with the fraction of a source whose end only this file knows. */
function fractions(
  onProgress: LoadOptions['onProgress'],
  fraction: () => number,
): LoadOptions['onProgress'] {
  return (
    onProgress &&
    ((progress: Progress) => onProgress({ ...progress, fraction: Math.min(1, fraction()) }))
  );
}

/** Returns the error of a refused row, with its position. */
function errorOf(spec: Spec, row: unknown, at: number, cause: unknown): unknown {
  if (!(cause instanceof HedgerowError)) return cause;
  const { message, pointer, issues } = cause;
  const positioned = new HedgerowError(kindOfError(cause), `row ${at}: ${message}`, {
    cause,
    pointer,
    issues,
    row: at,
  });
  return namedError(positioned, spec.name, spec.shownKey(row));
}
