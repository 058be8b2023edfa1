import assert from 'node:assert/strict';
import { test } from 'node:test';
import binaryen from 'binaryen';
import { blankLocations } from '../lib/panics.mjs';

/** Makes a module with two segments of data, at 1024 and at 4098. */
function moduleOf(low, high) {
  const quote = (bytes) =>
    [...bytes].map((byte) => `\\${byte.toString(16).padStart(2, '0')}`).join('');
  const module = binaryen.parseText(
    `(module (memory 1)
      (data (i32.const 1024) "${quote(low)}")
      (data (i32.const 4098) "${quote(high)}"))`,
  );
  const bytes = module.emitBinary();
  module.dispose();
  return bytes;
}

const words = (...numbers) => Buffer.from(Uint32Array.from(numbers).buffer);
const PATHS = [
  'crate/src/a.rs',
  '/rustc/0f/library/core/src/b.rs',
  '/root/.cargo/registry/src/c-1.0/d.rs',
];

test('paths of sources and records of lines are zeroed, and no other data', () => {
  const kept = Buffer.from('memory: of a crate /rust /x.rs and \0 7e21 ');
  const low = Buffer.concat([Buffer.from(`${PATHS.join('\0')}\0`), kept]);
  const at = (path) => 1024 + low.indexOf(path);
  const records = PATHS.map((path) => words(at(path), path.length, 77, 9));
  // Records with another length, with another address, and with neither.
  const others = words(at(PATHS[0]), 5, 77, 9, at(PATHS[0]) + 1, 13, 77, 9, 1, 2, 3, 4);
  const padding = Buffer.from('xx');
  const high = Buffer.concat([padding, ...records, others, padding]);

  const zeroed = (length) => Buffer.alloc(length);
  const blankLow = Buffer.concat([...PATHS.map(({ length }) => zeroed(length + 1)), kept]);
  const blankHigh = Buffer.concat([padding, zeroed(48), others, padding]);
  const blank = blankLocations(moduleOf(low, high));
  assert.deepEqual(Buffer.from(blank), Buffer.from(moduleOf(blankLow, blankHigh)));
});

test('an unknown segment of data is refused', () => {
  const module = binaryen.parseText('(module (memory 1) (data "crate/src/a.rs"))');
  module.setFeatures(binaryen.Features.All);
  const bytes = module.emitBinary();
  module.dispose();
  assert.throws(() => blankLocations(bytes), /unknown segment/);
});
