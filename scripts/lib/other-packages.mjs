// Builds any package but the store: its entries, each with its declarations. It imports the store by its name, so that
// an app has one copy of the store.

import { join } from 'node:path';
import { writeDeclarations } from './declarations.mjs';
import { buildInspectorPage } from './inspector.mjs';
import { joinFiles, writeFiles } from './joined.mjs';
import { entriesOf, manifestOf, packageDir } from './published.mjs';

/** Writes the JavaScript of a package to its `dist`. The packages that it imports must be built. */
export async function buildOther(folder) {
  const dir = packageDir(folder);
  const names = entriesOf(manifestOf(folder));
  const input = Object.fromEntries(names.map((name) => [name, join(dir, 'src', `${name}.ts`)]));
  await writeFiles(await joinFiles(input), join(dir, 'dist'), input);
  if (folder === 'inspector') await buildInspectorPage();
}

/** Writes the declarations of a package; returns how many internal ones it has dropped. */
export const declareOther = (folder) => writeDeclarations(packageDir(folder));
