import { fileURLToPath } from 'node:url';
import sources from './sources.json' with { type: 'json' };

/** Leads imports of the packages to their sources, for Vite. */
export const sourceAliases = Object.entries(sources.compilerOptions.paths).map(
  ([name, [file = '']]) => ({
    find: new RegExp(`^${name}$`),
    replacement: fileURLToPath(new URL(file, import.meta.url)),
  }),
);
