/** Compares keys as bytes, which is the order of the tree. */
export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const most = Math.min(a.length, b.length);
  for (let at = 0; at < most; at++) {
    const difference = (a[at] as number) - (b[at] as number);
    if (difference !== 0) return difference;
  }
  return a.length - b.length;
}
