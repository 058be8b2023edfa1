/** Rows that are kept as structured values: `docs/values.md`. */

import type { Kept, Row } from './kept.js';
import { columnOf } from './values/column.js';
import { decodeStructured, encodeStructured } from './values/structured.js';

export const STRUCTURED_ROWS: Kept = {
  isPlain: false,
  encode: encodeStructured,
  decode: (stored) => decodeStructured(stored) as Row,
  column: columnOf,
};
