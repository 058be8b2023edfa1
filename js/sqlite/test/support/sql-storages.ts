/** All drivers of the SQL adapter, each with a folder that is deleted after the test file. */
import { existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import type { Storage } from '../../../hedgerow/src/storage/segment-store.js';
import { betterSqlite3 } from '../../src/better-sqlite3.js';
import type { SqlConnection } from '../../src/driver.js';
import type { ExpoSqlite } from '../../src/expo-sqlite-driver.js';
import { expoSqliteStorage } from '../../src/expo-sqlite-storage.js';
import { type SqliteDriver, sqlite } from '../../src/index.js';
import { type NodeSqlite, nodeSqlite } from '../../src/node-sqlite.js';
import type { OpSqlite } from '../../src/op-sqlite-driver.js';
import { type OpSqliteOptions, opSqliteStorage } from '../../src/op-sqlite-storage.js';
import type { ExpoNative } from './expo-sqlite-native.js';
import { publishedExpo, publishedExpoVersions } from './expo-sqlite-published.js';
import { expoPackage, givesBuffers } from './expo-sqlite-shapes.js';
import type { Native } from './op-sqlite-native.js';
import { publishedNodeBuild, publishedPackage, publishedVersions } from './op-sqlite-published.js';
import { isRawAlone, nodePackage, phonePackage } from './op-sqlite-shapes.js';
import { Better, nodeModule } from './sqlite.mjs';

/** The tested versions of op-sqlite. */
export const OP_VERSIONS: readonly string[] = publishedVersions ?? ['15', '16', '17', '18'];
/** The tested versions of expo-sqlite: each returns bytes in another form. */
export const EXPO_VERSIONS: readonly string[] = publishedExpoVersions ?? ['15', '57'];

// In memory where there is room, which containers may lack: the tests flush thousands of files.
const SHARED = '/dev/shm';
const { bavail, bsize } = existsSync(SHARED) ? statfsSync(SHARED) : { bavail: 0, bsize: 0 };
const BASE = bavail * bsize > 2 ** 31 ? SHARED : tmpdir();
const made: string[] = [];
afterAll(() => {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Makes a new folder. */
export function folder(): string {
  const path = mkdtempSync(join(BASE, 'hedgerow-sql-'));
  made.push(path);
  return path;
}

/** A version for phones, over the stand-in for its native half. */
export async function opSqliteOf(version: string, more: Partial<Native> = {}): Promise<OpSqlite> {
  const native: Native = {
    isRawAlone: isRawAlone(version),
    folder: folder(),
    isEncrypting: false,
    keys: new Map(),
    ...more,
  };
  return publishedVersions ? publishedPackage(version, native) : phonePackage(native);
}

/** The build of a version for Node. */
export async function nodeBuildOf(version: string): Promise<OpSqlite> {
  return publishedVersions ? publishedNodeBuild(version) : nodePackage(version);
}

/** A version of expo-sqlite, over the stand-in for its native half. */
export async function expoSqliteOf(
  version: string,
  more: Partial<ExpoNative> = {},
): Promise<ExpoSqlite> {
  const native: ExpoNative = {
    givesBuffers: givesBuffers(version),
    folder: folder(),
    isEncrypting: false,
    keys: new Map(),
    leftOver: [],
    ...more,
  };
  return publishedExpoVersions ? publishedExpo(version, native) : expoPackage(native);
}

export type Make = (options?: OpSqliteOptions) => Promise<Storage>;

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
/** Earlier versions of Node need a flag for `node:sqlite`. */
export const hasNodeSqlite = major > 22 || (major === 22 && minor >= 13);
const NODE_DRIVERS: readonly SqliteDriver[] = [
  ...(Better ? (['better-sqlite3'] as const) : []),
  ...(hasNodeSqlite ? (['node:sqlite'] as const) : []),
];

/** The driver for tests that need only one. */
export const DRIVER: SqliteDriver = Better ? 'better-sqlite3' : 'node:sqlite';

/** Opens a connection of that driver; `remove` deletes the file. */
export function connectionTo(path: string, remove: () => void = () => {}): SqlConnection {
  return Better
    ? betterSqlite3(Better, path, remove)
    : nodeSqlite(nodeModule as NodeSqlite, path, remove);
}

/** All drivers by name; if a run takes published versions of a package, only the drivers of that package. */
export const SQL_STORAGES: readonly (readonly [string, Make])[] = [
  ...((publishedVersions ?? publishedExpoVersions) ? [] : NODE_DRIVERS).map(
    (driver): [string, Make] => [
      `sqlite() over ${driver}`,
      async ({ location = folder(), name } = {}) => sqlite({ location, name, driver }),
    ],
  ),
  ...(publishedExpoVersions ? [] : OP_VERSIONS).flatMap((version): [string, Make][] => [
    [
      `opSqlite() over ${version}`,
      async (options = {}) =>
        opSqliteStorage(await opSqliteOf(version), { location: folder(), ...options }),
    ],
    [
      `opSqlite() over the Node build of ${version}`,
      async (options = {}) =>
        opSqliteStorage(await nodeBuildOf(version), { location: folder(), ...options }),
    ],
  ]),
  ...(publishedVersions ? [] : EXPO_VERSIONS).map((version): [string, Make] => [
    `expoSqlite() over ${version}`,
    async ({ location = folder(), ...options } = {}) =>
      expoSqliteStorage(await expoSqliteOf(version), { directory: location, ...options }),
  ]),
];
