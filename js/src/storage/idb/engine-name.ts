/** Whether this is Firefox, by its name: no feature shows how an engine stores data. Others say `like Gecko`. */
export function isGecko(): boolean {
  return /Gecko\/\d/.test(globalThis.navigator?.userAgent ?? '');
}
