/** The ids of segments: each writer has a range of them. */
import { SEGMENTS_PER_WRITER } from '../../base/limits.js';

/** Returns the writer that an id belongs to. */
export function writerOf(id: number): number {
  return Math.floor(id / SEGMENTS_PER_WRITER);
}

/** Returns the ids of a writer: from the first to before the second. */
export function idsOf(writer: number): [number, number] {
  return [writer * SEGMENTS_PER_WRITER, (writer + 1) * SEGMENTS_PER_WRITER];
}
