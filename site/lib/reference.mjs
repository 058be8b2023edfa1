// Writes `docs/reference/`: a page for each entry of the package, from the comments in its declarations, and the
// changelog. The folder is not in git.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Application, TSConfigReader } from 'typedoc';
import { importedEntries, packageDir } from '../../scripts/lib/published.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const TO = join(ROOT, 'docs', 'reference');
const MADE = join(ROOT, '.cache', 'reference');

/** The first two repeat another entry, and the kit is no API. */
const LEFT_OUT = ['hedgerow/full', 'hedgerow/slim', 'hedgerow/kit'];

/** Lists the entries of the packages: their names, and their declarations. */
export const entries = () =>
  importedEntries()
    .filter(({ name }) => !LEFT_OUT.includes(name))
    .map(({ name, folder, types }) => ({ name, file: join(packageDir(folder), types) }));

const COMPILER = {
  target: 'ES2022',
  lib: ['ES2023', 'DOM', 'DOM.Iterable', 'DOM.AsyncIterable', 'ESNext.Disposable'],
  module: 'ESNext',
  moduleResolution: 'bundler',
  types: [],
  strict: true,
  skipLibCheck: true,
  noEmit: true,
};

/** TypeDoc's options: one page for each entry, with tables where a list would be long. */
const OPTIONS = {
  basePath: join(ROOT, 'js', 'hedgerow', 'dist'),
  plugin: ['typedoc-plugin-markdown'],
  logLevel: 'Error',
  readme: 'none',
  disableSources: true,
  excludeExternals: true,
  excludePrivate: true,
  excludeProtected: true,
  excludeInternal: true,
  // `tsc` checks the declarations.
  skipErrorChecking: true,
  outputFileStrategy: 'modules',
  hideBreadcrumbs: true,
  hidePageHeader: true,
  useCodeBlocks: true,
  parametersFormat: 'table',
  interfacePropertiesFormat: 'table',
  typeAliasPropertiesFormat: 'table',
};

const pageOf = (name) => name.replace('@', '').replaceAll('/', '-');

/** Writes the pages of the entries, with TypeDoc. */
export async function writeEntries() {
  const all = entries();
  for (const folder of [MADE, TO]) {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
  }
  const tsconfig = join(MADE, 'tsconfig.json');
  const files = all.map(({ file }) => file);
  writeFileSync(tsconfig, JSON.stringify({ compilerOptions: COMPILER, files }));
  const app = await Application.bootstrapWithPlugins(
    { ...OPTIONS, entryPoints: files, tsconfig, out: join(MADE, 'pages') },
    [new TSConfigReader()],
  );
  const project = await app.convert();
  if (project === undefined) throw new Error('TypeDoc could not read the declarations');
  // TypeDoc names a module by its file.
  for (const { name, file } of all) {
    const given = relative(join(ROOT, 'js', 'hedgerow', 'dist'), file)
      .replaceAll('\\', '/')
      .replace(/(?:(?<=.)\/index)?\.d\.ts$/, '');
    const module = project.children?.find((child) => child.name === given);
    if (module === undefined) throw new Error(`TypeDoc has no module for ${name}`);
    module.name = pageOf(name);
  }
  await app.generateOutputs(project);
  for (const { name } of all) {
    const text = readFileSync(join(MADE, 'pages', `${pageOf(name)}.md`), 'utf8');
    writeFileSync(join(TO, `${pageOf(name)}.md`), entryPage(name, text));
  }
  writeFileSync(join(TO, 'index.md'), indexPage(all));
  return all.length;
}

const GENERATED = '<!-- Written by `npm run docs`. -->\n\n';

/** Makes the page of an entry: its title is the import path. */
function entryPage(name, text) {
  // TypeDoc's plugin numbers this heading, since `Connection.state` has the same letters; the site does not.
  const linked = text.replaceAll('#connectionstate-1', '#connectionstate');
  return `${GENERATED}# \`${name}\`\n\n${linked.replace(/^# .*\n+/, '')}`;
}

const indexPage = (all) => `${GENERATED}# API by entry

Each entry of the package, from the comments in its declarations. [API by subject](../api.md) says what they are for, what they
cost and how they fail. \`hedgerow/slim\` exports what \`hedgerow\` does, and \`hedgerow/full\` that with proofs, sync and \`serve\`.

${all.map(({ name }) => `- [\`${name}\`](${pageOf(name)}.md)`).join('\n')}
`;

/** Writes the changelog as a page. */
export function writeChangelog() {
  mkdirSync(TO, { recursive: true });
  const text = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8').replaceAll('](docs/', '](../');
  writeFileSync(join(TO, 'changelog.md'), GENERATED + text);
}
