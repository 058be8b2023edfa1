// The later part of the core runs on a core of this build.

import { expect, test } from 'vitest';
import { compilePackedModule } from '../../src/core/compile-packed-module.js';
import { LATER_BASE64, LATER_LENGTH } from '../../src/core/generated/later-module.js';
import { MODULE_BASE64 } from '../../src/core/generated/module.js';
import { instantiateLater } from '../../src/core/instantiate-on-demand-core.js';
import { instances } from '../../src/core/instantiate-wasm.js';
import type { Core } from '../../src/core/trap-guard.js';

const LATER = /^(sum|check|remote)_/;

async function inflated(base64: string): Promise<ArrayBuffer> {
  const deflated = new Blob([Buffer.from(base64, 'base64')]);
  const stream = deflated.stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return new Response(stream).arrayBuffer();
}

test('the first part exports all imports of the later part', async () => {
  const first = await WebAssembly.compile(await inflated(MODULE_BASE64));
  const laterBytes = await inflated(LATER_BASE64);
  expect(laterBytes.byteLength).toBe(LATER_LENGTH);
  const exported = WebAssembly.Module.exports(first);
  const later = await WebAssembly.compile(laterBytes);
  for (const { module, name, kind } of WebAssembly.Module.imports(later)) {
    expect(module).toBe('first');
    // WebKit lists types, too.
    expect(exported).toContainEqual(expect.objectContaining({ name, kind }));
  }
  expect(exported.filter(({ name }) => LATER.test(name))).toEqual([]);
});

test('the later part starts on the exports of a core, again and again', async () => {
  for (const start of [
    instances<Core>(() => compilePackedModule(MODULE_BASE64)),
    instances<Core>(() => compilePackedModule(MODULE_BASE64)),
  ]) {
    const core = await start();
    core.start(1 << 20, 0, 0, 0, 0);
    const later = await instantiateLater(core as unknown as WebAssembly.Exports);
    for (const [name, member] of Object.entries(later)) {
      expect(name).toMatch(LATER);
      expect(member).toBeTypeOf('function');
    }
    expect(core.scratch(8)).toBeGreaterThan(0);
  }
});
