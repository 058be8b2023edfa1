/**
 * The JavaScript of expo-sqlite as it is published, in the place of the stand-in: of the versions that `HEDGEROW_EXPO_SQLITE`
 * lists, which `scripts/expo-sqlite.mjs` has fetched and runs the tests with.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ExpoSqlite } from '../../../src/storage/sql/expo-sqlite-driver.js';
import { type ExpoNative, installNative, nativeModule } from './expo-sqlite-native.js';

const listed = process.env.HEDGEROW_EXPO_SQLITE?.split(',').filter(Boolean) ?? [];

/** The versions, or nothing when the stand-in is to be tested. */
export const publishedExpoVersions = listed.length > 0 ? listed : undefined;

const CACHE = fileURLToPath(new URL('../../../../.cache/expo-sqlite', import.meta.url));
const natives = new Map<string, ExpoNative>();

/** It takes the native half once, when it is loaded; what differs from test to test is changed in place. */
export async function publishedExpo(version: string, fresh: ExpoNative): Promise<ExpoSqlite> {
  const native = Object.assign(natives.get(version) ?? {}, fresh);
  if (!natives.has(version)) installNative(nativeModule(native));
  natives.set(version, native);
  // Not the index, which has hooks for React as well.
  return import(/* @vite-ignore */ join(CACHE, version, 'package', 'build', 'SQLiteDatabase.js'));
}
