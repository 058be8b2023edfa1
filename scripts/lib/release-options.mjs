/** The options of `scripts/release.mjs`; the check of the workflows reads them, too. */
export const OPTIONS = {
  'dry-run': { type: 'boolean', default: false },
  'as-built': { type: 'boolean', default: false },
  version: { type: 'boolean', default: false },
  changed: { type: 'string' },
};
