/** Looks for rows of a newer version in bytes that go to the core as they are: the core does not know versions. */

import { type Spec, VERSION } from './spec.js';

const [QUOTE, TILDE] = [0x22, 0x7e];
const TOLD = new RegExp(`"${VERSION}"\\s*:\\s*([0-9]+)`);
/** Most bytes of the member, from its name to its value. */
const MOST = 64;

/**
 * Makes a function that takes the bytes of a load in parts, and throws `newer-version/schema` if a row is newer than
 * the table.
 */
export function makeVersionCheck(spec: Spec): (bytes: Uint8Array) => void {
  const decoder = new TextDecoder();
  let end = new Uint8Array();
  const check = (bytes: Uint8Array) => {
    // The tilde is rare: all other bytes are passed over without being decoded.
    for (let at = bytes.indexOf(TILDE); at >= 0; at = bytes.indexOf(TILDE, at + 1)) {
      if (bytes[at - 1] !== QUOTE) continue;
      const version = TOLD.exec(decoder.decode(bytes.subarray(at - 1, at + MOST)))?.[1];
      if (version !== undefined) spec.checkKnown(Number(version));
    }
  };
  return (bytes) => {
    check(bytes);
    // A member may be in two parts.
    const both = new Uint8Array([...end, ...bytes.subarray(0, MOST)]);
    check(both);
    end = (bytes.length < MOST ? both : bytes).slice(-MOST);
  };
}
