/** Writes numbers for people. */

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });
const tenths = new Intl.NumberFormat('en', { minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** `171,075` */
export function count(value: number | bigint): string {
  return whole.format(value);
}

/** `171K`, `2.32B` */
export function shortCount(value: number | bigint): string {
  return short.format(value);
}

/** `1.2 s`, `340 ms`, `8.4 ms`, `85 µs` */
export function duration(ms: number): string {
  if (ms >= 1000) return `${(ms / 1000).toFixed(2)} s`;
  if (ms >= 100) return `${whole.format(ms)} ms`;
  if (ms >= 1) return `${tenths.format(ms)} ms`;
  // The clock's own steps: 5 µs in an isolated page, 100 µs elsewhere.
  const step = globalThis.crossOriginIsolated ? 5 : 100;
  const us = ms * 1000;
  return us < step ? `under ${step} µs` : `${whole.format(Math.round(us / step) * step)} µs`;
}

/** `22.7 MB`, `389 kB`, `6.4 kB`, `120 B` */
export function size(bytes: number): string {
  if (bytes >= 1e6) return `${tenths.format(bytes / 1e6)} MB`;
  if (bytes >= 1e5) return `${whole.format(bytes / 1e3)} kB`;
  if (bytes >= 1e3) return `${tenths.format(bytes / 1e3)} kB`;
  return `${whole.format(bytes)} B`;
}

/** `1 node`, `106 nodes` */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** `48.853° N, 2.349° E` */
export function coordinates(lat: number, lng: number): string {
  const degrees = (value: number) => `${Math.abs(value).toFixed(2)}°`;
  return `${degrees(lat)} ${lat < 0 ? 'S' : 'N'}, ${degrees(lng)} ${lng < 0 ? 'W' : 'E'}`;
}

/** `8.3×` */
export function ratio(value: number): string {
  return `${value >= 100 ? whole.format(value) : tenths.format(value)}×`;
}

/** `3f2a91c0…` */
export function shortRoot(root: string): string {
  return `${root.slice(0, 8)}…`;
}
