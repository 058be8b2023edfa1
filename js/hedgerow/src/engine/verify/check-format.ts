/** Checks the format of a ref in a store that is not open. */
import { HedgerowError } from '../../base/errors.js';
import { FORMAT, MAX_FORMAT } from '../../base/limits.js';

/** Throws `wrong-key` for a sealed ref, and `newer-version/format` for a ref of a later version. */
export function checkFormat(format: number): void {
  if (format <= FORMAT) return;
  throw format > MAX_FORMAT
    ? new HedgerowError('wrong-key', 'the store is encrypted: give `encryption`, as open does')
    : new HedgerowError(
        'newer-version/format',
        `written by a newer version of Hedgerow: update the app (store format ${format})`,
      );
}
