/** JSON pointers to the members of rows. */

/** Returns the pointer to a member at the top of a row. */
export function pointerTo(name: string): string {
  return `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** Returns the pointer of a column, which is the name of a member or a pointer. */
export function pointerOf(column: string): string {
  return column.startsWith('/') ? column : pointerTo(column);
}

/** Returns the name of a column that has the words of another one. */
export function wordsIn(column: string): string {
  return `words of ${column}`;
}
