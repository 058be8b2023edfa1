/** `hedgerow/node`: stores in SQLite, and remotes in folders. */

export {
  type SqliteDriver,
  type SqliteOptions,
  sqlite,
} from '../storage/sql/node.js';
export { folderRemote } from '../sync/remote/adapters/folder.js';
