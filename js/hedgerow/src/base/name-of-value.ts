/** The last number given to a value that has no other name. */
let last = 0;

/**
 * Returns the name of a value of plain objects, lists, maps and scalars: equal for equal values. An object of another
 * kind gets a name that no other value has.
 */
export function nameOfValue(value: unknown): string {
  return JSON.stringify(value, function (this: Record<string, unknown>, name, value) {
    const own = this[name];
    if (own instanceof Date) return { date: own.getTime() };
    if (own instanceof Map) return { map: [...own] };
    if (typeof own === 'bigint') return { bigint: `${own}` };
    if (typeof own === 'number' && !Number.isFinite(own)) return { number: `${own}` };
    const isPlain = Array.isArray(own) || Object.getPrototypeOf(own ?? 0) === Object.prototype;
    const isOther = typeof own === 'object' && own !== null && !isPlain;
    return isOther ? { other: ++last } : value;
  });
}
