#!/usr/bin/env node
/** `npx hedgerow-server <folder>`: serves a folder as a remote. */
import { builtin } from '../base/node.js';
import { folderRemote } from '../remote/adapters/folder.js';
import { serveRemote } from './server.js';

interface Util {
  parseArgs(config: object): {
    readonly values: Readonly<Record<string, string | boolean | undefined>>;
    readonly positionals: readonly string[];
  };
}
interface Process {
  readonly env: Readonly<Record<string, string | undefined>>;
  exitCode: number;
}

const USAGE = `hedgerow-server <folder> [--port 7080] [--host 127.0.0.1] [--origin https://app.example] [--public-reads]

The environment variable HEDGEROW_TOKEN has the bearer token of all requests. Without one only this machine may connect.`;

const { process } = globalThis as unknown as { process: Process };
const text = { type: 'string' };

async function main(): Promise<void> {
  const { values, positionals } = builtin<Util>('node:util', 'hedgerow-server').parseArgs({
    allowPositionals: true,
    options: { port: text, host: text, origin: text, 'public-reads': { type: 'boolean' } },
  });
  const { port = '7080', host = '127.0.0.1', origin } = values as Record<string, string>;
  const token = process.env.HEDGEROW_TOKEN || undefined;
  const isLocal = ['127.0.0.1', '::1', 'localhost'].includes(host);
  const [folder, ...others] = positionals;
  const isPort = /^\d{1,5}$/.test(port) && Number(port) < 65_536;
  if (folder === undefined || others.length > 0 || !isPort || (!isLocal && token === undefined)) {
    throw new TypeError(USAGE);
  }
  const publicReads = values['public-reads'] === true;
  const options = { port: Number(port), host, origin, token, publicReads };
  const { url } = await serveRemote(folderRemote(folder), options);
  console.log(`${folder} is at ${url}`);
}

main().catch((cause: unknown) => {
  console.error(cause instanceof TypeError ? cause.message : cause);
  process.exitCode = 1;
});
