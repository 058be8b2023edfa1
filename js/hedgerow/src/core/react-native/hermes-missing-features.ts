/** Platform check for React Native. Hermes has all needed features, since the core is plain JavaScript. */

/** Returns an empty list. */
export function listMissingFeatures(): string[] {
  return [];
}
