/** Lists the entries of all packages, with their sources. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The folder of the packages. */
const PACKAGES = join(import.meta.dirname, '../../..');

/** The files of the modules by the names that apps import, such as `hedgerow/sync`. */
export const entryFiles: ReadonlyMap<string, string> = new Map(
  readdirSync(PACKAGES)
    .filter((folder) => existsSync(join(PACKAGES, folder, 'package.json')))
    .flatMap((folder) => {
      const { name, exports } = JSON.parse(
        readFileSync(join(PACKAGES, folder, 'package.json'), 'utf8'),
      ) as { name: string; exports: Record<string, string | { default: string }> };
      return Object.entries(exports).flatMap(([path, target]): [string, string][] => {
        if (typeof target === 'string') return [];
        const file = target.default.replace('./dist/', 'src/').replace(/\.js$/, '.ts');
        return [[name + path.slice('.'.length), join(PACKAGES, folder, file)]];
      });
    }),
);
