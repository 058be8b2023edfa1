/** Rows that are kept as structured values: `docs/values.md`. */

import type { Row, RowFormat } from './row-format.js';
import { toColumnValue } from './values/index-column-value.js';
import { decodeStructured, encodeStructured } from './values/structured.js';

export const STRUCTURED_ROWS: RowFormat = {
  isPlain: false,
  encode: encodeStructured,
  decode: (stored) => decodeStructured(stored) as Row,
  column: toColumnValue,
};
