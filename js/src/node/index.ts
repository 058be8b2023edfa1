/** `hedgerow/node`: stores in SQLite, and remotes in folders. */
export { folderRemote } from '../remote/adapters/folder.js';
export {
  type SqliteDriver,
  type SqliteOptions,
  sqlite,
} from '../storage/sql/node.js';
