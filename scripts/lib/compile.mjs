// Compiles the core to WebAssembly: with Cargo alone, without wasm-pack and wasm-bindgen's tool.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT, run } from './run.mjs';

const TARGET = 'wasm32-unknown-unknown';

/**
 * Returns the module of rustc, with a profile of `Cargo.toml`. `rustflags` replace the flags of `.cargo/config.toml`.
 */
export async function compileCore({
  profile,
  targetDir = join(ROOT, 'target'),
  args = [],
  rustflags,
  env = {},
}) {
  const what = ['--package', 'hedgerow', '--lib', '--crate-type', 'cdylib', '--target', TARGET];
  const how = ['--locked', '--profile', profile, '--target-dir', targetDir];
  await run('cargo', ['rustc', ...what, ...how, ...args], {
    // Removes flags of the environment: they would replace the flags of the repository, and switch off SIMD.
    env: { ...env, RUSTFLAGS: rustflags, CARGO_ENCODED_RUSTFLAGS: undefined },
  });
  return readFile(join(targetDir, TARGET, profile, 'hedgerow.wasm'));
}
