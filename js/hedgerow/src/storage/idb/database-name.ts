/** Returns the name of the database of a store. */
export function databaseName(name: string): string {
  return `hedgerow/${name}`;
}
