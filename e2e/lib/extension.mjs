// Makes an extension of Manifest V3 whose background is a service worker with a store.

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PAGES = fileURLToPath(new URL('../pages/', import.meta.url));

const MANIFEST = {
  manifest_version: 3,
  name: 'Hedgerow',
  version: '1',
  background: { service_worker: 'background.js' },
  content_security_policy: {
    extension_pages: "script-src 'self' 'wasm-unsafe-eval'; object-src 'self'",
  },
};

/** Writes the extension to a folder. */
export async function writeExtension(dir) {
  const { rolldown } = await import('rolldown');
  const bundle = async (name, file) => {
    const build = await rolldown({ input: join(PAGES, name), platform: 'browser' });
    await build.write({ file: join(dir, file), format: 'iife', codeSplitting: false });
    await build.close();
  };
  await mkdir(dir, { recursive: true });
  await bundle('remote-service.ts', 'background.js');
  await bundle('remote-extension.ts', 'page.js');
  await writeFile(join(dir, 'page.html'), '<!doctype html><script src="page.js"></script>');
  await writeFile(join(dir, 'manifest.json'), JSON.stringify(MANIFEST));
}
