/** Checks the platform for `hedgerow/slim`, whose module is not deflated. Replaces `core/check-platform.ts`. */
import { checkFeatures } from '../../base/check-features.js';

/** Rejects with `unsupported` where the core cannot start. */
export const checkPlatform = (): Promise<void> => checkFeatures();
