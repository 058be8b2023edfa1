/** The code of a bucket: one file, which the first connection to one loads. */
export { type BucketConnection, loadParts } from './bucket-connection.js';
export {
  type BucketOptions,
  contextOf,
  createBucketConnection,
} from './open-bucket-connection.js';
