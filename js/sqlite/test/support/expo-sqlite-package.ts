/** `expo-sqlite` in tests that name no version: the stand-in, or the last published version that a run lists. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExpoNative } from './expo-sqlite-native.js';
import { publishedExpo, publishedExpoVersions } from './expo-sqlite-published.js';
import { expoPackage, givesBuffers } from './expo-sqlite-shapes.js';

const version = publishedExpoVersions?.at(-1) ?? '57';
const native: ExpoNative = {
  givesBuffers: givesBuffers(version),
  folder: join(tmpdir(), `hedgerow-expo-${process.pid}`),
};
export const { openDatabaseAsync, deleteDatabaseAsync } = publishedExpoVersions
  ? await publishedExpo(version, native)
  : expoPackage(native);
