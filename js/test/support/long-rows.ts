/** Rows that are few and long, for tests of what travels as packs. */
import { random } from './random.js';

/** Rows of about 1200 bytes. 1500 of them are more than the tail of a head takes, and 3500 of them are two packs. */
export function longRows(count: number, note: string): [string, unknown][] {
  const from = random(count);
  return Array.from({ length: count }, (_, nth) => [
    `k${String(nth).padStart(6, '0')}`,
    { nth, note, text: btoa(String.fromCharCode(...from.bytes(900))) },
  ]);
}
