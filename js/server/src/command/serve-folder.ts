/** Runs `npx @hedgerow/server serve <folder>`: serves a folder as a remote. */

import { folderRemote } from '../folder/folder-remote.js';
import { serveRemote } from '../serve-remote.js';
import {
  folderAt,
  parseArguments,
  process,
  token,
  UsageError,
} from './arguments-and-environment.js';

export const USAGE = `hedgerow serve <folder> [--port 7080] [--host 127.0.0.1] [--origin https://app.example] [--public-reads]

Serves a folder as a remote. --origin names the pages that may use it, several with commas. Environment variables have
bearer tokens: HEDGEROW_READ_TOKEN is for reads, HEDGEROW_TOKEN for reads and writes, and HEDGEROW_DELETE_TOKEN for reads,
writes and deletions. Without any, only this machine may connect, and only pages of --origin.`;

const OPTIONS = {
  port: 'string',
  host: 'string',
  origin: 'string',
  'public-reads': 'boolean',
} as const;

export async function runServe(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArguments(args, USAGE, OPTIONS, 1);
  const { port = '7080', host = '127.0.0.1', origin } = values as Record<string, string>;
  const tokens = {
    token: token(),
    readToken: process.env.HEDGEROW_READ_TOKEN || undefined,
    deleteToken: process.env.HEDGEROW_DELETE_TOKEN || undefined,
  };
  const isLocal = ['127.0.0.1', '::1', 'localhost'].includes(host);
  const isOpen = Object.values(tokens).every((one) => one === undefined);
  const isPort = /^\d{1,5}$/.test(port) && Number(port) < 65_536;
  if (!isPort || (!isLocal && isOpen)) throw new UsageError(USAGE);
  const [folder = ''] = positionals.map(folderAt);
  const publicReads = values['public-reads'] === true;
  const how = { port: Number(port), host, origin: origin?.split(','), publicReads, ...tokens };
  const { url } = await serveRemote(folderRemote(folder), how);
  console.log(`${folder} is at ${url}`);
}
