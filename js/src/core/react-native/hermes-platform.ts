/** Platform check for React Native. Hermes lacks nothing that is needed, since the core is plain JavaScript. */

/** Nothing is missing. */
export function listMissingFeatures(): string[] {
  return [];
}
