/** The collector, and the check that a commit is wholly stored: one file of the build, loaded at first use. */

export { checkWhole, endCollections } from '../verify/check-whole.js';
export { Collector } from './collector.js';
