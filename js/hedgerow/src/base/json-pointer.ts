/** JSON pointers (RFC 6901): the names on the way to a member of a value. */

/** Excludes lone surrogates, which no name of a member contains. */
const POINTER = /^(\/([^~\p{Surrogate}]|~[01])*)?$/u;

/** Returns the names in a pointer; `undefined` if it is malformed. */
export function parsePointer(pointer: unknown): string[] | undefined {
  if (typeof pointer !== 'string' || !POINTER.test(pointer)) return undefined;
  const names = pointer.split('/').slice(1);
  return names.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Returns the member of a value that the names lead to; `undefined` if it does not exist. */
export function memberAt(value: unknown, names: readonly string[]): unknown {
  let at = value;
  for (const name of names) {
    const isIndex = Array.isArray(at) && /^(0|[1-9]\d*)$/.test(name);
    const isMember = typeof at === 'object' && at !== null && !Array.isArray(at);
    if (!(isIndex || isMember) || !Object.hasOwn(at as object, name)) return undefined;
    at = (at as Record<string, unknown>)[name];
  }
  return at;
}
