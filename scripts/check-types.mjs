// `node scripts/check-types.mjs [--newest] [--sources]`: checks the types of the package as apps see them. Compiles
// `js/hedgerow/test/types` with the oldest and the newest supported TypeScript (`--newest`: with that alone), and compares each
// error with the expected one. Then compiles an app with many tables, whose types must stay cheap, and reads the types
// that an editor shows for the first calls of an app, which must fit on a screen. With `--sources`
// against the declarations of the current sources; otherwise against the declarations in `js/hedgerow/dist`.

import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorsIn, expectedIn, faultsOf, withoutComments } from './lib/expected-errors.mjs';
import { readHovers } from './lib/hovers.mjs';
import { MANY, manyTables } from './lib/many-tables.mjs';
import { CommandFailed, ROOT, run, runMain } from './lib/run.mjs';

const FROM = join(ROOT, 'js', 'hedgerow', 'test', 'types');
/** Copies without the comments that hide errors. */
const TO = join(ROOT, '.cache', 'types');
const DECLARATIONS = join(ROOT, '.cache', 'declarations');
const MANY_DIR = join(ROOT, '.cache', 'types-many');
/** The limit of the app with many tables; twice its need. */
const MAX_INSTANTIATIONS = 300_000;
/** The limit of a type in an editor. */
const MAX_HOVER_LINES = 16;
const COMPILERS = [...(process.argv.includes('--newest') ? [] : ['typescript-5.4']), 'typescript'];

/** Runs a compiler; returns its output, with errors or without. */
async function compiled(compiler, args, cwd = ROOT) {
  const main = join(ROOT, 'node_modules', compiler, 'bin', 'tsc');
  try {
    return await run('node', [main, ...args], { cwd, quiet: true });
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
    return error.output;
  }
}

/** Writes declarations of the store's sources; returns the path of each of its entries. */
async function pathsOfSources() {
  rmSync(DECLARATIONS, { recursive: true, force: true });
  const project = ['-p', join(ROOT, 'js', 'hedgerow'), '--outDir', DECLARATIONS];
  await compiled('typescript', [...project, '--emitDeclarationOnly', '--noEmitOnError', 'false']);
  const { exports } = JSON.parse(
    readFileSync(join(ROOT, 'js', 'hedgerow', 'package.json'), 'utf8'),
  );
  const entries = Object.entries(exports).filter(([, { types }]) => types !== undefined);
  return Object.fromEntries(
    entries.map(([entry, { types }]) => [
      entry.replace(/^\./, 'hedgerow'),
      [types.replace(/^\.\/dist/, DECLARATIONS)],
    ]),
  );
}

/** Writes a project in its own folder, with the settings of `js/hedgerow/test/types`. */
function writeProject(dir, files, paths) {
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  for (const [file, text] of files) writeFileSync(join(dir, file), text);
  cpSync(join(FROM, 'tsconfig.json'), join(dir, 'own.json'));
  const config = { extends: './own.json', compilerOptions: { paths }, include: ['.'] };
  writeFileSync(join(dir, 'tsconfig.json'), JSON.stringify(config));
}

async function checkErrors(compiler, expected) {
  const output = await compiled(compiler, ['-p', '.', '--pretty', 'false'], TO);
  const faults = faultsOf(expected, errorsIn(output));
  if (faults.length > 0) {
    console.log(faults.join('\n'));
    throw new CommandFailed(`${compiler}: the types differ in ${faults.length} places`);
  }
  const count = [...expected.values()].reduce((sum, lines) => sum + lines.size, 0);
  console.log(`${compiler}: ${count} expected errors, and no other, in ${expected.size} files`);
}

async function checkCost(compiler) {
  const args = ['-p', '.', '--pretty', 'false', '--extendedDiagnostics'];
  const output = await compiled(compiler, args, MANY_DIR);
  if (output.includes('error TS')) throw new CommandFailed(`${compiler}: ${MANY}:\n${output}`);
  const count = Number(/^Instantiations:\s+(\d+)/m.exec(output)?.[1]);
  const time = /^Check time:\s+(\S+)/m.exec(output)?.[1];
  console.log(`${compiler}: ${MANY}: ${count} instantiations, checked in ${time}`);
  if (!(count <= MAX_INSTANTIATIONS)) {
    throw new CommandFailed(`${compiler}: more than ${MAX_INSTANTIATIONS} instantiations`);
  }
}

function checkHovers(paths) {
  const lines = readHovers(TO, paths).map(({ call, text }) => [call, text.split('\n').length]);
  console.log(
    `types in an editor: ${lines.map(([call, count]) => `${call} ${count} lines`).join(', ')}`,
  );
  const long = lines.filter(([, count]) => count > MAX_HOVER_LINES);
  if (long.length > 0) throw new CommandFailed(`${long} is more than ${MAX_HOVER_LINES} lines`);
}

async function main() {
  const texts = readdirSync(FROM)
    .filter((name) => name.endsWith('.ts'))
    .map((file) => [file, readFileSync(join(FROM, file), 'utf8')]);
  const expected = new Map(texts.map(([file, text]) => [file, expectedIn(text)]));
  const paths = process.argv.includes('--sources') ? await pathsOfSources() : {};
  writeProject(
    TO,
    texts.map(([file, text]) => [file, withoutComments(text)]),
    paths,
  );
  writeProject(MANY_DIR, [['app.ts', manyTables()]], paths);
  for (const compiler of COMPILERS) {
    await checkErrors(compiler, expected);
    await checkCost(compiler);
  }
  checkHovers(paths);
}

await runMain(main);
