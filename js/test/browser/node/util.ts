/** What tests use of Node's `util`. */

type Members = Record<PropertyKey, unknown>;

/** As Node's, for what tests compare: JSON, bytes, maps, sets of primitives, errors. */
export function isDeepStrictEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  if (ArrayBuffer.isView(a)) return haveSameBytes(a, b as ArrayBufferView);
  if (a instanceof Date) return Object.is(a.getTime(), (b as Date).getTime());
  if (a instanceof Map) return haveSameEntries(a, b as Map<unknown, unknown>);
  if (a instanceof Set) {
    const other = b as Set<unknown>;
    return a.size === other.size && [...a].every((member) => other.has(member));
  }
  if (a instanceof Error) {
    const { name, message } = b as Error;
    if (a.name !== name || a.message !== message) return false;
  }
  if (Array.isArray(a) && a.length !== (b as unknown[]).length) return false;
  const names = namesOf(a);
  return (
    names.length === namesOf(b).length &&
    names.every(
      (name) =>
        Object.hasOwn(b, name) && isDeepStrictEqual((a as Members)[name], (b as Members)[name]),
    )
  );
}

/** The names of what is enumerable. */
function namesOf(value: object): PropertyKey[] {
  const symbols = Object.getOwnPropertySymbols(value);
  return [
    ...Object.keys(value),
    ...symbols.filter((symbol) => Object.prototype.propertyIsEnumerable.call(value, symbol)),
  ];
}

function haveSameBytes(a: ArrayBufferView, b: ArrayBufferView): boolean {
  const [these, those] = [a, b].map(
    (view) => new Uint8Array(view.buffer, view.byteOffset, view.byteLength),
  ) as [Uint8Array, Uint8Array];
  return these.length === those.length && these.every((byte, at) => byte === those[at]);
}

function haveSameEntries(a: Map<unknown, unknown>, b: Map<unknown, unknown>): boolean {
  return (
    a.size === b.size &&
    [...a].every(([key, value]) => b.has(key) && isDeepStrictEqual(value, b.get(key)))
  );
}

/** A value in one line, as failures print it. */
export function inspect(value: unknown): string {
  return JSON.stringify(value, (_, member) => {
    if (ArrayBuffer.isView(member)) return `bytes(${member.byteLength})`;
    if (typeof member === 'bigint') return `${member}n`;
    return member === undefined ? 'undefined' : member;
  });
}
