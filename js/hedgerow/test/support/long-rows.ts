/** A few long rows, for tests of packs. */
import { random } from './random.js';

/** Returns rows of about 1200 bytes: 1500 of them exceed the tail of a head, and 3500 of them make two packs. */
export function longRows(count: number, note: string): [string, unknown][] {
  const from = random(count);
  return Array.from({ length: count }, (_, nth) => [
    `k${String(nth).padStart(6, '0')}`,
    { nth, note, text: btoa(String.fromCharCode(...from.bytes(900))) },
  ]);
}
