/**
 * Names the file of a store. Two stores never share a file, whatever their names, even in a file system that ignores
 * case.
 */
import { sha256 } from '@noble/hashes/sha2.js';

/** Longest encoded name, in characters: file systems take 255 bytes, with what SQLite appends. */
const MAX_LENGTH = 96;

/** Returns the name of the file of the store `name`, among the stores that share `prefix`. */
export function fileNameOf(prefix: string, name: string): string {
  return `${encodeFileName(prefix)}.${encodeFileName(name)}.sqlite`;
}

/** Keeps lower-case letters, digits, `_` and `-`; writes other UTF-16 units as `=` and their number. */
function encodeFileName(name: string): string {
  let text = '';
  for (let at = 0; at < name.length; at++) {
    const unit = name.charCodeAt(at);
    const letter = name.charAt(at);
    if (/[a-z0-9_-]/.test(letter)) text += letter;
    else if (unit < 0x80) text += `=${unit.toString(16).padStart(2, '0')}`;
    else text += `=u${unit.toString(16).padStart(4, '0')}`;
  }
  if (text.length <= MAX_LENGTH) return text;
  // `==` is in no name that is short enough.
  return `${text.slice(0, 24)}==${hashOf(name)}`;
}

function hashOf(name: string): string {
  const bytes = new Uint8Array(2 * name.length);
  const view = new DataView(bytes.buffer);
  for (let at = 0; at < name.length; at++) view.setUint16(2 * at, name.charCodeAt(at));
  return Array.from(sha256(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
