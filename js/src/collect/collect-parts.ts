/** What gives back room, and what keeps a commit from it that is no head: one file, loaded when it is first wanted. */

export { checkWhole, endCollections } from '../verify/whole.js';
export { Collector } from './collector.js';
