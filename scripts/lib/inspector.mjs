// Builds the page of `@hedgerow/inspector`: one HTML file with its script and style in it, so that an app can serve it
// unchanged. The script has the whole package, and is a classic one: a server then has no imports to resolve.

import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from './run.mjs';
import { TO_SOURCES } from './source.mjs';

const SOURCE = join(ROOT, 'js', 'inspector', 'src');
const DIST = join(ROOT, 'js', 'inspector', 'dist');

/** The published file. */
export const INSPECTOR_PAGE = join(DIST, 'page.html');

/** Escapes a script for a page: no text in it ends the element or begins a comment. */
export const inPage = (code) =>
  code
    .replace(/<\/(script)/gi, '<\\/$1')
    .replace(/<!--/g, '<\\!--')
    .trim();

/** Removes comments and needless spaces from style sheets. */
export const withoutSpaces = (css) =>
  css
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/\s+/g, ' ')
    .replace(/ ?([{};]) ?/g, '$1')
    .trim();

async function scriptOfPage() {
  // Imported late: its package is only there once `setup` has run.
  const { rolldown } = await import('rolldown');
  const build = await rolldown({
    input: join(SOURCE, 'page.ts'),
    platform: 'browser',
    resolve: TO_SOURCES,
    // Only the module of slim's files asks for its own address.
    checks: { emptyImportMeta: false },
  });
  const { output } = await build.generate({ format: 'iife', minify: true, codeSplitting: false });
  await build.close();
  if (output.length !== 1) throw new Error('the script of the inspector is in several files');
  return output[0].code;
}

/** Builds the page from the sources. */
export async function buildInspectorPage() {
  const [page, ...css] = await Promise.all(
    ['page.html', 'page.css', 'components.css'].map((name) => readFile(join(SOURCE, name), 'utf8')),
  );
  const code = inPage(await scriptOfPage());
  const html = page
    .replace('<style></style>', () => `<style>${withoutSpaces(css.join('\n'))}</style>`)
    .replace('<script></script>', () => `<script>${code}</script>`);
  await writeFile(INSPECTOR_PAGE, html);
}
