/** Base64: by calls of the engine, and by loops in engines without them. */
import { describe, expect, it } from 'vitest';
import { fromBase64, toBase64 } from '../../../src/store/tables/values/base64.js';
import { forSeeds } from '../../support/property.js';

describe('base64', () => {
  it('equals the Base64 of the platform', async () => {
    await forSeeds(50, async (from) => {
      for (let length = 0; length < 70; length++) {
        const bytes = from.bytes(length);
        const text = btoa(String.fromCharCode(...bytes));
        expect(toBase64(bytes)).toBe(text);
        expect(fromBase64(text)).toEqual(bytes);
      }
    });
  });

  it('refuses every text but the one encoding of its bytes', async () => {
    let refused = 0;
    await forSeeds(50, async (from) => {
      for (let step = 0; step < 50; step++) {
        const text = toBase64(from.bytes(from.below(9)));
        const at = from.below(text.length + 1);
        const put = from.pick([...'A+/=-_ \né']);
        const other = text.slice(0, at) + put + text.slice(at + from.below(2));
        const bytes = fromBase64(other);
        if (bytes === undefined) refused += 1;
        else expect(toBase64(bytes)).toBe(other);
      }
    });
    expect(refused).toBeGreaterThan(0);
  });
});
