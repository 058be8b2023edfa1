// A back end for apps whose server decides: POST /push and /pull of Replicache, and GET /events, which says when to pull.
//
//     node server.mjs --sqlite issues.sqlite | --postgres postgres://user@host/database
//         [--port 7090] [--host 127.0.0.1] [--origin https://app.example] [--app ./mutators.mjs]
//
// `?space=name` chooses the space. HEDGEROW_TOKEN has the bearer token; without one only this machine is served.
import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { pull, push, Refusal } from './sync.mjs';

/** An offline client sends all that it has done: 16 MiB are some 100,000 mutations. */
const MAX_BODY = 16 * 2 ** 20;
/** A connection that takes nothing for so long is cut off; streams of events are kept alive below it. */
const IDLE_MS = 60_000;
const ALIVE_MS = 20_000;

const { values } = parseArgs({
  options: {
    sqlite: { type: 'string' },
    postgres: { type: 'string' },
    port: { type: 'string', default: '7090' },
    host: { type: 'string', default: '127.0.0.1' },
    origin: { type: 'string', default: '*' },
    app: { type: 'string', default: new URL('mutators.mjs', import.meta.url).pathname },
  },
});
const token = process.env.HEDGEROW_TOKEN;
const isLocal = ['127.0.0.1', '::1', 'localhost'].includes(values.host);
if ((values.sqlite === undefined) === (values.postgres === undefined) || !(token || isLocal)) {
  console.error('either --sqlite <file> or --postgres <url>; another --host needs HEDGEROW_TOKEN');
  process.exit(2);
}

const listeners = new Map();
function poke({ space, version }) {
  for (const response of listeners.get(space) ?? [])
    response.write(`data: {"version":${version}}\n\n`);
}
const open = values.sqlite
  ? (await import('./sqlite.mjs')).openSqlite
  : (await import('./postgres.mjs')).openPostgres;
const database = await open(values.sqlite ?? values.postgres, poke);
const app = await import(pathToFileURL(resolve(values.app)));

const hash = (text) => createHash('sha256').update(text).digest();
const isAllowed = ({ headers }) =>
  !token || timingSafeEqual(hash(headers.authorization ?? ''), hash(`Bearer ${token}`));

async function bodyOf(request) {
  // So that a page of another origin must ask first.
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? ''))
    throw new Refusal(415, 'not-json');
  const parts = [];
  let bytes = 0;
  for await (const part of request) {
    bytes += part.length;
    if (bytes > MAX_BODY) throw new Refusal(413, 'body-too-large', { most: MAX_BODY });
    parts.push(part);
  }
  try {
    return JSON.parse(Buffer.concat(parts).toString());
  } catch {
    throw new Refusal(400, 'invalid-json');
  }
}

function listen(space, response) {
  const all = listeners.get(space) ?? new Set();
  listeners.set(space, all.add(response));
  response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
  response.write(':\n\n');
  const alive = setInterval(() => response.write(':\n\n'), ALIVE_MS);
  response.on('close', () => {
    clearInterval(alive);
    all.delete(response);
    if (all.size === 0) listeners.delete(space);
  });
}

async function handle(request, response) {
  response.setHeader('Access-Control-Allow-Origin', values.origin);
  const { pathname, searchParams } = new URL(request.url, 'http://localhost');
  const space = searchParams.get('space') ?? 'default';
  const route = `${request.method} ${pathname}`;
  if (request.method === 'OPTIONS') {
    response.setHeader('Access-Control-Allow-Methods', 'GET, POST');
    const allowed = 'authorization, content-type, x-replicache-requestid';
    response.setHeader('Access-Control-Allow-Headers', allowed);
    response.setHeader('Access-Control-Max-Age', '7200');
    return response.writeHead(204).end();
  }
  if (!isAllowed(request)) throw new Refusal(401, 'unauthorized');
  if (!/^[\w-]{1,64}$/.test(space)) throw new Refusal(400, 'invalid-space');
  if (route === 'GET /events') return listen(space, response);
  response.setHeader('Content-Type', 'application/json');
  if (route === 'POST /push') {
    await push({ database, app }, space, await bodyOf(request));
    return response.end('{}');
  }
  if (route !== 'POST /pull') throw new Refusal(404, 'not-found');
  const parts = pull({ database, app }, space, await bodyOf(request));
  // The first part comes before the status: what refuses the pull has spoken by then.
  const first = await parts.next();
  const whole = async function* () {
    yield first.value;
    yield* parts;
  };
  await pipeline(Readable.from(whole()), response);
}

const server = createServer((request, response) =>
  handle(request, response).catch((error) => {
    const { status, body } =
      error instanceof Refusal ? error : { status: 503, body: { error: 'failed' } };
    if (status >= 500) console.error(error);
    if (response.headersSent) return response.destroy();
    response.writeHead(status, { 'Content-Type': 'application/json', Connection: 'close' });
    response.end(JSON.stringify(body));
  }),
);
server.setTimeout(IDLE_MS);
server.listen(Number(values.port), values.host, () =>
  console.log(`listening on http://${values.host}:${server.address().port}`),
);
for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, () => {
    server.close(() => database.close().then(() => process.exit()));
    server.closeAllConnections();
  });
