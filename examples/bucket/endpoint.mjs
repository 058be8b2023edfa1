// Signs addresses for pages, which have no keys of the bucket: POST { method, key, query } returns an address, as text.
//
//     createServer(endpoint({ memberOf, sign: s3Signer({ ... }) }))
//
// `memberOf` gets a request and returns the rooms of its sender, `{ rooms: Map { '7' => 'writer' } }`, or undefined.
import { parseName } from 'hedgerow/sync';

/** The methods of each role. Pages neither delete nor list: a server collects. */
const METHODS = { reader: ['GET'], writer: ['GET', 'PUT'] };
const MAX_BODY = 4096;

function isAllowed({ method, key, query }, rooms) {
  if (typeof key !== 'string') return false;
  const [, room, name] = /^rooms\/([\w-]{1,64})\/(.+)$/.exec(key) ?? [];
  const object = parseName(name);
  // Names that begin with ~ are no branches: one is the record of collections.
  if (object === undefined || object.branch?.startsWith('~')) return false;
  // A read past caches has a number in its query. Any other member would ask for another resource.
  const isPlain = Object.entries(query ?? {}).every(
    ([one, value]) => one === 'x-id' && typeof value === 'string' && value.length < 40,
  );
  return isPlain && METHODS[rooms.get(room)]?.includes(method) === true;
}

/** Reads the request of a page; undefined if it is malformed. */
async function wantedIn(request) {
  let text = '';
  for await (const part of request) {
    text += part;
    if (text.length > MAX_BODY) return {};
  }
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}

export function endpoint({ memberOf, sign }) {
  return async (request, response) => {
    const end = (status, text) =>
      response.writeHead(status, { 'Cache-Control': 'no-store' }).end(text);
    try {
      const member = await memberOf(request);
      if (member === undefined) return end(401);
      if (request.method !== 'POST') return end(405);
      const wanted = await wantedIn(request);
      return isAllowed(wanted, member.rooms) ? end(200, await sign(wanted)) : end(403);
    } catch (error) {
      console.error(error);
      return end(500);
    }
  };
}
