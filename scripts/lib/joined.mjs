// Joins the modules of a package into few files, with rolldown.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/**
 * Generates the files of `input`, the entries by their names; further plugins and options of rolldown's output come on
 * top. `preserveEntrySignatures` says whether entries may export more than their sources.
 */
export async function joinFiles(
  input,
  { plugins = [], preserveEntrySignatures = 'strict', ...options } = {},
) {
  // Imported late: its package is only there once `setup` has run.
  const { rolldown } = await import('rolldown');
  const build = await rolldown({
    input,
    platform: 'neutral',
    external: /^(?![A-Za-z]:)[^./]/, // packages, which the app's bundler finds
    resolve: { extensionAlias: { '.js': ['.ts'] } },
    transform: { target: 'es2022' },
    plugins,
    preserveEntrySignatures,
    checks: { moduleLevelDirective: false }, // `writeFiles` finds lost ones
  });
  const { output } = await build.generate({
    format: 'esm',
    minify: 'dce-only',
    entryFileNames: '[name].js',
    chunkFileNames: '[name].js',
    ...options,
  });
  await build.close();
  return output;
}

/** Writes generated files to `dist`. Throws if an entry has lost the mark of client code that its source has. */
export async function writeFiles(output, dist, input) {
  for (const { fileName, code } of output) {
    const file = join(dist, fileName);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, code);
  }
  for (const [name, source] of Object.entries(input)) {
    const [was, is] = await Promise.all([source, join(dist, `${name}.js`)].map(isClient));
    if (was && !is) throw new Error(`'use client' is lost in ${name}`);
  }
}

/** Returns whether the first line of a file marks it as client code for frameworks. */
const isClient = async (file) => /^(['"])use client\1;/.test(await readFile(file, 'utf8'));
