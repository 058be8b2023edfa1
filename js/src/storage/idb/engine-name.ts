/** By its name: how an engine stores things no feature tells. Others say `like Gecko`. */
export function isGecko(): boolean {
  return /Gecko\/\d/.test(globalThis.navigator?.userAgent ?? '');
}
