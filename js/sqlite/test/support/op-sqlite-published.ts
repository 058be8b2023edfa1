/**
 * The published JavaScript of op-sqlite in the place of the stand-ins, in the versions that `HEDGEROW_OP_SQLITE` lists.
 * `scripts/long/op-sqlite.mjs` fetches these and runs the tests with them.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { OpSqlite } from '../../src/op-sqlite-driver.js';
import { type Native, nativeProxy } from './op-sqlite-native.js';

const listed = process.env.HEDGEROW_OP_SQLITE?.split(',').filter(Boolean) ?? [];

/** The versions; `undefined` if stand-ins are tested. */
export const publishedVersions = listed.length > 0 ? listed : undefined;

const CACHE = fileURLToPath(new URL('../../../../.cache/op-sqlite', import.meta.url));
const natives = new Map<string, Native>();

const load = (version: string, file: string): Promise<OpSqlite> =>
  import(/* @vite-ignore */ join(CACHE, version, 'package', file));

/** Loads the half that phones run, over the stand-in for the native one. */
export async function publishedPackage(version: string, fresh: Native): Promise<OpSqlite> {
  // The package takes the native half once, when it is loaded.
  const native = Object.assign(natives.get(version) ?? {}, fresh);
  natives.set(version, native);
  (globalThis as { __OPSQLiteProxy?: unknown }).__OPSQLiteProxy = nativeProxy(native);
  return load(version, 'lib/module/functions.js');
}

/** Loads the build for Node: over better-sqlite3, in the calling thread. */
export async function publishedNodeBuild(version: string): Promise<OpSqlite> {
  const build = await load(version, 'node/dist/index.js');
  if (Number.parseInt(version, 10) > 15) return build;
  // This build deletes in the working folder unless it gets a location, which its native half does not take.
  return {
    ...build,
    open(options) {
      const db = build.open(options);
      const remove = db.delete.bind(db) as (location?: string) => void;
      return Object.assign(db, { delete: () => remove(options.location) });
    },
  };
}
