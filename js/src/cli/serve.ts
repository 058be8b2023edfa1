/** `npx hedgerow serve <folder>`: serves a folder as a remote. */
import { folderRemote } from '../remote/adapters/folder.js';
import { serveRemote } from '../server/server.js';
import { folderAt, parsed, token, UsageError } from './platform.js';

export const USAGE = `hedgerow serve <folder> [--port 7080] [--host 127.0.0.1] [--origin https://app.example] [--public-reads]

Serves a folder as a remote. The environment variable HEDGEROW_TOKEN has the bearer token of all requests. Without one
only this machine may connect.`;

const OPTIONS = {
  port: 'string',
  host: 'string',
  origin: 'string',
  'public-reads': 'boolean',
} as const;

export async function serve(args: readonly string[]): Promise<void> {
  const { values, positionals } = parsed(args, USAGE, OPTIONS, 1);
  const { port = '7080', host = '127.0.0.1', origin } = values as Record<string, string>;
  const isLocal = ['127.0.0.1', '::1', 'localhost'].includes(host);
  const isPort = /^\d{1,5}$/.test(port) && Number(port) < 65_536;
  if (!isPort || (!isLocal && token() === undefined)) throw new UsageError(USAGE);
  const [folder = ''] = positionals.map(folderAt);
  const publicReads = values['public-reads'] === true;
  const how = { port: Number(port), host, origin, token: token(), publicReads };
  const { url } = await serveRemote(folderRemote(folder), how);
  console.log(`${folder} is at ${url}`);
}
