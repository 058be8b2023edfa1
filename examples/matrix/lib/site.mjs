// Serves a folder like a host of static files: compressed, and with given headers.

import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { gzipSync } from 'node:zlib';

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
  '.wasm': 'application/wasm',
};

/** Finds the file of a path; undefined if the folder has no such file. */
async function fileOf(folder, pathname) {
  const path = join(folder, normalize(decodeURIComponent(pathname)));
  if (!path.startsWith(folder)) return undefined;
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory()) return fileOf(folder, `${pathname}/index.html`);
  return found?.isFile() ? path : undefined;
}

/** Serves `folder` at a port of this machine; `headers` go with every answer. */
export async function serveFolder(folder, headers = {}) {
  const server = createServer(async (request, response) => {
    try {
      const { pathname } = new URL(request.url, 'http://localhost');
      const path = await fileOf(folder, pathname);
      if (path === undefined) {
        response.writeHead(404).end();
        return;
      }
      const type = TYPES[extname(path)] ?? 'application/octet-stream';
      const compressed = /\bgzip\b/.test(request.headers['accept-encoding'] ?? '');
      const bytes = await readFile(path);
      const encoding = compressed ? { 'content-encoding': 'gzip' } : {};
      response.writeHead(200, { 'content-type': type, ...encoding, ...headers });
      response.end(compressed ? gzipSync(bytes, { level: 9 }) : bytes);
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://localhost:${server.address().port}/`,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
