/** `@hedgerow/server`: a reference server for remotes, and remotes in folders. */

export { folderRemote } from './folder/folder-remote.js';
export { type RemoteServer, type ServerOptions, serveRemote } from './serve-remote.js';
