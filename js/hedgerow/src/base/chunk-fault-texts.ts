/**
 * Texts for the fault numbers of chunks: which part of one is malformed. `crate/trees/src/error.rs` has the same list
 * in the same order; `scripts/test/faults.test.mjs` compares them.
 */

/** The parts of chunks and tables: the names of the variants of `Field`. */
const FIELDS =
  'kind,version,count,length,offset,key length,key text,key order,value length,entry count,child level,child key,child count,boundary,value text,sum,sum hash'.split(
    ',',
  );

/** Says what is wrong with a malformed chunk. */
export function describeMalformedChunk(
  field: number,
  offset: number,
  expected: number,
  got: number,
): string {
  return `malformed at byte ${offset}: ${FIELDS[field] ?? field}, expected ${expected}, got ${got}`;
}
