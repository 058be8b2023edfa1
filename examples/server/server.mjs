// A back end for apps whose server decides: POST /push and /pull of Replicache, and GET /events, which says when to
// pull.
//
//     node server.mjs --sqlite issues.sqlite | --postgres postgres://user@host/database
//         [--port 7090] [--host 127.0.0.1] [--origin https://app.example] [--app mutators.mjs]
//
// `?space=name` chooses the space. HEDGEROW_TOKEN has the bearer token; without it the server answers only this
// machine, and only pages of --origin; several with commas.
import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { pull, push, Refusal } from './sync.mjs';

/** A client that was offline sends all of its work: some 100,000 mutations are 16 MiB. */
const MAX_BODY = 16 * 2 ** 20;
/** A connection that is idle for so long is cut off; streams of events are kept alive. */
const IDLE_MS = 60_000;
const ALIVE_MS = 20_000;
const PREFLIGHT = {
  'Access-Control-Allow-Methods': 'GET, POST',
  'Access-Control-Allow-Headers': 'authorization, content-type, x-replicache-requestid',
  'Access-Control-Max-Age': '7200',
};

const type = 'string';
const own = fileURLToPath(new URL('mutators.mjs', import.meta.url));
const at = { port: { type, default: '7090' }, host: { type, default: '127.0.0.1' } };
const pages = { origin: { type }, app: { type, default: own } };
const { values } = parseArgs({
  options: { sqlite: { type }, postgres: { type }, ...at, ...pages },
});
const token = process.env.HEDGEROW_TOKEN;
const isSafe = token || ['127.0.0.1', '::1', 'localhost'].includes(values.host);
if (!values.sqlite === !values.postgres || !isSafe) {
  console.error('either --sqlite <file> or --postgres <url>; another --host needs HEDGEROW_TOKEN');
  process.exit(2);
}

/** The origins of pages that may use it. With a token all, since a strange page does not know it. */
const origins = values.origin?.split(',') ?? (token ? ['*'] : []);
const OWN_HOST = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i;

/** The streams of events of each space. */
const streams = new Map();
function poke({ space, version }) {
  for (const stream of streams.get(space) ?? []) stream.write(`data: {"version":${version}}\n\n`);
}
const { open } = await import(values.sqlite ? './sqlite.mjs' : './postgres.mjs');
const database = await open(values.sqlite ?? values.postgres, poke);
const app = await import(pathToFileURL(resolve(values.app)));

const hash = (text) => createHash('sha256').update(text).digest();
const isAllowed = ({ headers }) =>
  !token || timingSafeEqual(hash(headers.authorization ?? ''), hash(`Bearer ${token}`));

async function bodyOf(request) {
  // Of this type, so that a page of another origin must ask first.
  const isJson = /^application\/json\b/i.test(request.headers['content-type'] ?? '');
  if (!isJson) throw new Refusal(415, 'not-json');
  const parts = [];
  let bytes = 0;
  for await (const part of request) {
    bytes += parts.push(part) && part.length;
    if (bytes > MAX_BODY) throw new Refusal(413, 'body-too-large', { most: MAX_BODY });
  }
  try {
    return JSON.parse(Buffer.concat(parts).toString());
  } catch {
    throw new Refusal(400, 'invalid-json');
  }
}

function listen(space, response) {
  const all = streams.get(space) ?? new Set();
  streams.set(space, all.add(response));
  response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
  response.write(':\n\n');
  const alive = setInterval(() => response.write(':\n\n'), ALIVE_MS);
  response.on('close', () => {
    clearInterval(alive);
    all.delete(response);
    if (all.size === 0) streams.delete(space);
  });
}

/**
 * Refuses pages that no option names. Without a token also other addresses: a page can make its own host name lead
 * here.
 */
function checkSource({ headers: { host = '', origin } }, response) {
  if (!token && !OWN_HOST.test(host)) throw new Refusal(403, 'foreign-host');
  if (origin === undefined || origin === `http://${host}`) return;
  const allowed = ['*', origin].find((one) => origins.includes(one));
  if (allowed === undefined) throw new Refusal(403, 'foreign-origin');
  response.setHeader('Access-Control-Allow-Origin', allowed).setHeader('Vary', 'Origin');
}

async function handle(request, response) {
  checkSource(request, response);
  if (request.method === 'OPTIONS') return response.writeHead(204, PREFLIGHT).end();
  if (!isAllowed(request)) throw new Refusal(401, 'unauthorized');
  const { pathname, searchParams } = new URL(request.url, 'http://localhost');
  const space = searchParams.get('space') ?? 'default';
  if (!/^[\w-]{1,64}$/.test(space)) throw new Refusal(400, 'invalid-space');
  const route = `${request.method} ${pathname}`;
  if (route === 'GET /events') return listen(space, response);
  if (route !== 'POST /push' && route !== 'POST /pull') throw new Refusal(404, 'not-found');
  const body = await bodyOf(request);
  response.setHeader('Content-Type', 'application/json');
  if (route === 'POST /push') {
    await push(database, app, space, body);
    return response.end('{}');
  }
  const parts = pull(database, app, space, body);
  // A refused pull fails before its first part. The other parts come as fast as the client takes them.
  response.write((await parts.next()).value);
  await pipeline(parts, response);
}

async function answer(request, response) {
  try {
    await handle(request, response);
  } catch (error) {
    if (response.destroyed || response.headersSent) return response.destroy();
    const { status = 503, body = { error: 'failed' } } = error instanceof Refusal ? error : {};
    if (status >= 500) console.error(error);
    response.writeHead(status, { 'Content-Type': 'application/json', Connection: 'close' });
    response.end(JSON.stringify(body));
  }
}

const server = createServer(answer).setTimeout(IDLE_MS);
server.listen(Number(values.port), values.host, () =>
  console.log(`listening on http://${values.host}:${server.address().port}`),
);
