/**
 * Checks, before a store opens, that the core can start: the reader opens stores without it, but writes need it.
 * `slim/slim-check-platform.ts` and `react-native/hermes-check-platform.ts` replace this file in other builds.
 */
import { checkFeatures } from '../base/check-features.js';

/** Rejects with `unsupported` where the core cannot start. */
export const checkPlatform = (): Promise<void> =>
  checkFeatures(() => new DecompressionStream('deflate-raw'));
