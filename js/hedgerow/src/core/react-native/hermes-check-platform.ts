/** The check of the platform for React Native: the core is plain JavaScript, so it always starts. */

/** Resolves. */
export async function checkPlatform(): Promise<void> {}
