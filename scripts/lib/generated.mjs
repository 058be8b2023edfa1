// Writes the TypeScript files that are generated from the compiled core: the module as text, and its exports.

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { signatureOf } from './boundary.mjs';
import { ROOT } from './run.mjs';

export const GENERATED_DIR = join(ROOT, 'js', 'hedgerow', 'src', 'core', 'generated');
/** The files that `generate` writes. */
export const GENERATED_FILES = ['module.ts', 'later-module.ts', 'exports.ts', 'plain.d.ts'].map(
  (name) => join(GENERATED_DIR, name),
);

const HEAD = '// Written by `npm run build`; not for editing.\n\n';

const write = (name, text) => writeFile(join(GENERATED_DIR, name), HEAD + text);

/**
 * Writes all of them. `deflate` packs the bytes of a module, `functions` are the exports of the core, and `isLater`
 * selects the exports of the later part.
 */
export async function generate({ first, later, functions, isLater, deflate }) {
  await mkdir(GENERATED_DIR, { recursive: true });
  const [firstText, laterText] = await Promise.all([
    moduleText('MODULE', first, 'The WebAssembly module', deflate),
    moduleText('LATER', later, 'The part of it that is loaded later', deflate),
  ]);
  await write('module.ts', firstText);
  await write('later-module.ts', laterText);
  await write('exports.ts', exportsText(functions, isLater));
  // The file itself exists only once `scripts/build-react-native.mjs` has run.
  await write(
    'plain.d.ts',
    '/** Starts an instance; throws `RangeError` when there is no memory for it. */\nexport function start(): unknown;\n',
  );
}

async function moduleText(constant, wasmBytes, title, deflate) {
  const deflatedBytes = Buffer.from(await deflate(wasmBytes));
  // Writes the type, or the declaration file would repeat the whole string.
  return (
    `/** ${title}: raw DEFLATE, in base64. */\n` +
    `export const ${constant}_BASE64: string =\n  '${deflatedBytes.toString('base64')}';\n\n` +
    `/** Length of the module in bytes, once inflated. */\n` +
    `export const ${constant}_LENGTH: number = ${wasmBytes.length};\n`
  );
}

function exportsText(functions, isLater) {
  const declare = (name, members) =>
    `export interface ${name} {\n${members.map((line) => `  readonly ${line};\n`).join('')}}\n`;
  const member = (one) => `${one.name}: ${signatureOf(one)}`;
  const firsts = functions.filter(({ name }) => !isLater(name)).map(member);
  const laters = functions.filter(({ name }) => isLater(name)).map(member);
  return (
    '/** What an instance of the module exports. */\n' +
    declare('InitOutput', ['memory: WebAssembly.Memory', ...firsts]) +
    '\n/** What an instance of the later part exports. */\n' +
    declare('LaterOutput', laters)
  );
}
