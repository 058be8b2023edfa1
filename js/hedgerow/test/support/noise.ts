/** Text for rows whose chunks must not become smaller when packed. */
import { random } from './random.js';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const ALL = new TextDecoder().decode(
  random(64)
    .bytes(4 << 20)
    .map((byte) => LETTERS.charCodeAt(byte & 63)),
);

/**
 * Returns so many letters and digits that do not repeat, at most a million; another `seed`, an integer, gives others.
 */
export function noise(seed: number, length: number): string {
  const start = (Math.imul(seed, 0x9e3779b1) >>> 0) % (ALL.length - length);
  return ALL.slice(start, start + length);
}

/** Returns a text of so many characters, a third of which repeats: leaves of such texts are packed, and stay large. */
export function partlyNoise(seed: number, length = 270): string {
  const start = noise(seed, Math.floor((length * 2) / 3));
  return start + ` ${seed}`.repeat(length).slice(0, length - start.length);
}
