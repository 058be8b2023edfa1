/**
 * The published JavaScript of expo-sqlite in the place of the stand-in, in the versions that `HEDGEROW_EXPO_SQLITE`
 * lists. `scripts/long/expo-sqlite.mjs` fetches these and runs the tests with them.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ExpoSqlite } from '../../src/expo-sqlite-driver.js';
import { type ExpoNative, installNative, nativeModule } from './expo-sqlite-native.js';

const listed = process.env.HEDGEROW_EXPO_SQLITE?.split(',').filter(Boolean) ?? [];

/** The versions; `undefined` if the stand-in is tested. */
export const publishedExpoVersions = listed.length > 0 ? listed : undefined;

const CACHE = fileURLToPath(new URL('../../../../.cache/expo-sqlite', import.meta.url));
const natives = new Map<string, ExpoNative>();

/** The package takes the native half once, when it is loaded; settings of a test are changed in place. */
export async function publishedExpo(version: string, fresh: ExpoNative): Promise<ExpoSqlite> {
  const native = Object.assign(natives.get(version) ?? {}, fresh);
  if (!natives.has(version)) installNative(nativeModule(native));
  natives.set(version, native);
  // The index also has hooks for React.
  return import(/* @vite-ignore */ join(CACHE, version, 'package', 'build', 'SQLiteDatabase.js'));
}
