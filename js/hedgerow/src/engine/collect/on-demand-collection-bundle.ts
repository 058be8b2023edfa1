/** The collector, and the check that all of a commit is stored: one file of the build, loaded at first use. */

export { checkWhole, endCollections } from '../verify/check-all-chunks-stored.js';
export { Collector } from './collector.js';
