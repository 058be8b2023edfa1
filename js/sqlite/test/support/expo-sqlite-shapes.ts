/**
 * A stand-in for the JavaScript half of the npm package `expo-sqlite`, as far as the adapter uses it, over the stand-in
 * for its native half. `expo-sqlite-shapes.test.ts` checks the shared behaviour over both this and the package.
 */
import type { ExpoSqlite } from '../../src/expo-sqlite-driver.js';
import { type ExpoNative, nativeModule } from './expo-sqlite-native.js';

/** From version 56 on the native half gives buffers. */
export function givesBuffers(version: string): boolean {
  return Number.parseInt(version, 10) >= 56;
}

/** The package that an app imports. */
export function expoPackage(native: ExpoNative): ExpoSqlite {
  const module = nativeModule(native);
  const pathOf = (name: string, folder = native.folder) => `${folder.replace(/\/*$/, '')}/${name}`;
  const columns = (row: unknown[]) =>
    row.map((value) => (value instanceof ArrayBuffer ? new Uint8Array(value) : value));
  return {
    async openDatabaseAsync(name, options, directory) {
      const path = pathOf(name, directory);
      await module.ensureDatabasePathExistsAsync(path);
      const db = new module.NativeDatabase(path, options);
      await db.initAsync();
      return {
        execAsync: (sql) => db.execAsync(sql),
        closeAsync: () => db.closeAsync(),
        async prepareAsync(sql) {
          const statement = new module.NativeStatement();
          await db.prepareAsync(statement, sql);
          return {
            finalizeAsync: () => statement.finalizeAsync(db),
            async executeForRawResultAsync(values) {
              const entries = [...values.entries()];
              const isBlob = ([, value]: (typeof entries)[number]) => value instanceof Uint8Array;
              const { firstRowValues: first } = await statement.runAsync(
                db,
                Object.fromEntries(entries.filter((one) => !isBlob(one))),
                Object.fromEntries(entries.filter(isBlob)),
                true,
              );
              return {
                async getAllAsync() {
                  if (first.length === 0) return [];
                  await statement.getColumnNamesAsync();
                  return [first, ...(await statement.getAllAsync(db))].map(columns);
                },
              };
            },
          };
        },
      };
    },
    deleteDatabaseAsync: (name, directory) => module.deleteDatabaseAsync(pathOf(name, directory)),
  };
}
