/** Whether this is a build for development. */

// Not all platforms have `process`.
declare const process: { readonly env: { readonly NODE_ENV?: string } };

/**
 * Whether this is a build for development. Bundlers replace the expression; without a bundler and without `process` it
 * is `false`.
 */
export const isDevelopment: boolean = (() => {
  try {
    return process.env.NODE_ENV !== 'production';
  } catch {
    return false;
  }
})();
