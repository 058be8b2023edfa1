// Bundles the page of each contestant alone, minified, as an app would.

import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';

const PAGES = fileURLToPath(new URL('pages/', import.meta.url));

/** Returns a page that names its script, and what this imports, as the pages that Vite writes do. */
const htmlOf = (script, ...imports) =>
  [
    '<!doctype html><meta charset="utf-8"><title>first row</title>',
    `<script type="module" src="./${script}"></script>`,
    ...imports.map((file) => `<link rel="modulepreload" href="./${file}">`),
    '<body></body>',
  ].join('');

/** Makes Chromium compile all functions of a file while it loads the file, outside of the page's thread. */
const COMPILE_HINT = '//# allFunctionsCalledOnLoad\n';

/**
 * Returns the files of a contestant's page by their paths, gzipped: `{ '/index.html': { type, body } }`. With
 * `isHinted`, the files that the page loads first begin with `COMPILE_HINT`.
 */
export async function buildPage(name, outDir, isHinted = false) {
  const root = join(outDir, name);
  await build({
    configFile: false,
    root: PAGES,
    base: './',
    logLevel: 'error',
    worker: { format: 'es' },
    build: {
      outDir: root,
      emptyOutDir: true,
      target: 'es2022',
      modulePreload: { polyfill: false },
      manifest: true,
      rolldownOptions: { input: join(PAGES, `${name}.ts`), output: { entryFileNames: 'main.js' } },
    },
  });
  const manifest = JSON.parse(await readFile(join(root, '.vite', 'manifest.json'), 'utf8'));
  await rm(join(root, '.vite'), { recursive: true });
  /** Lists the files that a file imports. */
  const importsOf = ({ imports = [] }) =>
    imports.flatMap((key) => [manifest[key].file, ...importsOf(manifest[key])]);
  const first = ['main.js', ...new Set(importsOf(manifest[`${name}.ts`]))];
  const files = new Map([['/index.html', fileOf('.html', Buffer.from(htmlOf(...first)))]]);
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const file = path.slice(root.length);
    const hint = isHinted && first.includes(file.slice(1)) ? COMPILE_HINT : '';
    files.set(file, fileOf(entry.name, Buffer.concat([Buffer.from(hint), await readFile(path)])));
  }
  await rm(root, { recursive: true, force: true });
  return files;
}

const TYPES = { html: 'text/html', js: 'text/javascript', wasm: 'application/wasm' };

function fileOf(name, bytes) {
  const type = TYPES[name.split('.').at(-1)] ?? 'application/octet-stream';
  return { type, body: gzipSync(bytes, { level: 9 }) };
}
