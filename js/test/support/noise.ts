/** Text for rows whose chunks must not become smaller when they are packed. */
import { random } from './random.js';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const ALL = new TextDecoder().decode(
  random(64)
    .bytes(4 << 20)
    .map((byte) => LETTERS.charCodeAt(byte & 63)),
);

/** So many letters and digits that do not repeat, at most a million: other ones for another `seed`, an integer. */
export function noise(seed: number, length: number): string {
  const start = (Math.imul(seed, 0x9e3779b1) >>> 0) % (ALL.length - length);
  return ALL.slice(start, start + length);
}

/** A text of so many characters, a third of which repeats: leaves of such are packed, and still take most of their bytes. */
export function partlyNoise(seed: number, length = 270): string {
  const start = noise(seed, Math.floor((length * 2) / 3));
  return start + ` ${seed}`.repeat(length).slice(0, length - start.length);
}
