/** Weighs what a page has loaded, in bytes as sent, and scripts also unpacked. */

export interface LoadedBytes {
  readonly script: number;
  readonly unpacked: number;
  readonly other: number;
}

export function loadedBytes(): LoadedBytes {
  let [script, unpacked, other] = [0, 0, 0];
  for (const entry of [
    ...performance.getEntriesByType('navigation'),
    ...performance.getEntriesByType('resource'),
  ] as PerformanceResourceTiming[]) {
    if (new URL(entry.name).pathname.endsWith('.js')) {
      script += entry.encodedBodySize;
      unpacked += entry.decodedBodySize;
    } else other += entry.encodedBodySize;
  }
  return { script, unpacked, other };
}
