// Serves the pulls of the peers: the rows as gzipped NDJSON, Replicache's pull, and the part of CouchDB's protocol that
// a pull of PouchDB uses. All data is in memory, so that no server is slow.

import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import { gzipSync } from 'node:zlib';

const CORS = {
  'Access-Control-Allow-Methods': 'GET, POST, PUT',
  'Access-Control-Allow-Headers': '*, authorization, content-type, accept',
  'Access-Control-Max-Age': '7200',
};
const JSON_TYPE = { 'Content-Type': 'application/json' };
/** Below this gzip saves no bytes. */
const GZIP_BYTES = 1024;

/** The rows of a server, numbered by their last change. */
export class Feed {
  /** By id, in the order of their last change. */
  #rows = new Map();
  #version = 0;
  #whole = new Map();

  /** Puts rows as one change. */
  put(rows) {
    this.#version += 1;
    for (const row of rows) {
      const nth = (this.#rows.get(row.id)?.nth ?? 0) + 1;
      this.#rows.delete(row.id);
      this.#rows.set(row.id, { row, nth, version: this.#version });
    }
    this.#whole.clear();
  }

  /** Returns the rows that were changed after a version. */
  #since(version) {
    const found = [];
    for (const one of this.#rows.values()) if (one.version > version) found.push(one);
    return found;
  }

  /** Makes an answer with all rows once. */
  #once(name, make) {
    if (!this.#whole.has(name)) this.#whole.set(name, gzipSync(make()));
    return this.#whole.get(name);
  }

  ndjson() {
    return this.#once('ndjson', () => {
      return this.#since(0)
        .map(({ row }) => `${JSON.stringify(row)}\n`)
        .join('');
    });
  }

  /** Answers a pull of Replicache. */
  replicache({ cookie }) {
    const answer = () => {
      const patch = this.#since(cookie ?? 0).map(({ row }) => {
        return { op: 'put', key: row.id, value: row };
      });
      return JSON.stringify({ cookie: this.#version, lastMutationIDChanges: {}, patch });
    };
    return cookie === null || cookie === undefined ? this.#once('replicache', answer) : answer();
  }

  /** Answers PouchDB, by the path below the database; undefined for unknown paths. */
  couch(method = 'GET', path = '', query = {}, body = undefined) {
    if (path === '') {
      const update_seq = this.#version;
      return { db_name: 'rows', doc_count: this.#rows.size, update_seq, instance_start_time: '0' };
    }
    if (path === '_changes') return this.#changes(query);
    if (path === '_bulk_get') {
      const results = body.docs.map(({ id }) => ({ id, docs: [{ ok: this.#document(id) }] }));
      return { results };
    }
    if (path.startsWith('_local/'))
      return method === 'PUT' ? this.#keep(path, body) : this.#local.get(path);
    return undefined;
  }

  #local = new Map();

  #keep(path, document) {
    this.#local.set(path, { ...document, _rev: '0-1' });
    return { ok: true, id: path, rev: '0-1' };
  }

  /** One change is one number in CouchDB: rows are numbered by their place. */
  #changes({ since = '0', limit = '1000' }) {
    const from = Number(since);
    const all = this.#sequence();
    const results = all.slice(from, from + Math.max(1, Number(limit)));
    return {
      results,
      last_seq: from + results.length,
      pending: all.length - from - results.length,
    };
  }

  #log = [];

  #sequence() {
    for (const { row, nth, version } of this.#since(this.#logged)) {
      const seq = this.#log.length + 1;
      this.#log.push({ seq, id: row.id, changes: [{ rev: revOf(row, nth) }] });
      this.#logged = Math.max(this.#logged, version);
    }
    return this.#log;
  }

  #logged = 0;

  #document(id) {
    const { row, nth } = this.#rows.get(id);
    const rev = revOf(row, nth);
    const ids = [rev.slice(rev.indexOf('-') + 1)];
    // The revisions before the last are missing, as after a compaction.
    return { ...row, _id: id, _rev: rev, _revisions: { start: nth, ids } };
  }
}

function revOf(row, nth) {
  return `${nth}-${createHash('md5').update(JSON.stringify(row)).digest('hex')}`;
}

/** Serves the result of `feedOf()`, at a free port. */
export async function serveFeed(feedOf) {
  const server = createServer(async (request, response) => {
    const origin = request.headers.origin ?? '*';
    const cors = {
      ...CORS,
      'Access-Control-Allow-Origin': origin,
      'Access-Control-Allow-Credentials': 'true',
    };
    const answer = (status, body = '', headers = {}) => {
      const isZipped = body instanceof Uint8Array;
      const isLong = !isZipped && body.length > GZIP_BYTES;
      const bytes = isLong ? gzipSync(body) : Buffer.from(body);
      const zipped = isZipped || isLong ? { 'Content-Encoding': 'gzip' } : {};
      response.writeHead(status, {
        ...cors,
        ...JSON_TYPE,
        ...zipped,
        'Content-Length': bytes.length,
        ...headers,
      });
      response.end(bytes);
    };
    try {
      const parts = [];
      for await (const part of request) parts.push(part);
      if (request.method === 'OPTIONS') return answer(204);
      const text = Buffer.concat(parts).toString();
      const body = text === '' ? undefined : JSON.parse(text);
      const url = new URL(request.url, 'http://localhost');
      const feed = feedOf();
      if (url.pathname === '/rows.ndjson') {
        return answer(200, feed.ndjson(), {
          'Content-Type': 'application/x-ndjson',
          'Cache-Control': 'no-store',
        });
      }
      if (url.pathname === '/replicache-pull') return answer(200, feed.replicache(body));
      if (url.pathname === '/')
        return answer(200, JSON.stringify({ couchdb: 'Welcome', uuid: 'bench' }));
      const path = decodeURIComponent(url.pathname.replace(/^\/rows\/?/, ''));
      const found = feed.couch(request.method, path, Object.fromEntries(url.searchParams), body);
      if (found === undefined)
        return answer(404, JSON.stringify({ error: 'not_found', reason: 'missing' }));
      return answer(request.method === 'PUT' ? 201 : 200, JSON.stringify(found));
    } catch (error) {
      return answer(500, JSON.stringify({ error: String(error) }));
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server.address().port;
}
