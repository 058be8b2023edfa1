/** Whether this is a build for development. */

// Not all places have it.
declare const process: { readonly env: { readonly NODE_ENV?: string } };

/**
 * Whether this is a build for development. Bundlers replace the expression; where nothing did and there is no `process`,
 * it is not.
 */
export const isDevelopment: boolean = (() => {
  try {
    return process.env.NODE_ENV !== 'production';
  } catch {
    return false;
  }
})();
