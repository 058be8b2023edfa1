/** What the library needs of React Native: nothing that Hermes lacks, since its core is plain JavaScript. */

/** Nothing is missing. */
export function missingFeatures(): string[] {
  return [];
}
