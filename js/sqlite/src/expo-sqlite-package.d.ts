/** The used exports of the package, which only apps for phones have. */
declare module 'expo-sqlite' {
  export const openDatabaseAsync: unknown;
  export const deleteDatabaseAsync: unknown;
}
