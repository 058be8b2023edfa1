// Finds the npm packages that a script imports, with all files of the repository that it imports. It reads text, not
// syntax trees.

import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { packageOf } from './release-reach.mjs';

/** Imports that happen when a file is loaded. */
const STATIC = /^(?:import (?:.* from )?|export .* from |\} from )'([^']+)';$/gm;
/** Imports that happen later, if at all. */
const DYNAMIC = /\b(?:import|require|require\.resolve|import\.meta\.resolve)\('([^']+)'\)/g;

/** Returns a file of the repository by the path that an import names. */
const fileAt = (path) =>
  [path, path.replace(/\.js$/, '.ts'), path.replace(/\.js$/, '.tsx')].find((one) =>
    existsSync(one),
  );

/**
 * Adds to `found` the packages that a file and the files that it imports import, each with the first importing file.
 * With `isStatic` only imports at load time count. `seen` has the files that were read.
 */
export function importedPackages(
  file,
  { isStatic = false, seen = new Set(), found = new Map() } = {},
) {
  if (seen.has(file)) return found;
  seen.add(file);
  const text = readFileSync(file, 'utf8');
  const imports = [...text.matchAll(STATIC), ...(isStatic ? [] : text.matchAll(DYNAMIC))];
  for (const [, name] of imports) {
    if (name.startsWith('node:')) continue;
    const own = name.startsWith('.') ? fileAt(join(dirname(file), name)) : undefined;
    if (own !== undefined) importedPackages(own, { isStatic, seen, found });
    else if (!name.startsWith('.') && !found.has(packageOf(name))) found.set(packageOf(name), file);
  }
  return found;
}
