// Replicache's push and pull, version 1, with a version for each space: a transaction that writes raises the version of
// its space by one and gives it to all rows and clients that it touches. A cookie is such a version with its stamp,
// which is random: a database that has lost its last second makes the same versions again, with other stamps.
import { randomUUID } from 'node:crypto';
import { inTransaction } from './schema.mjs';

/** The number of mutations in a transaction, and of rows read at once. */
const BATCH = 100;
const PAGE = 1000;

/** A refusal, as the answer to a request. */
export class Refusal extends Error {
  constructor(status, error, more = {}) {
    super(error);
    Object.assign(this, { status, body: { error, ...more } });
  }
}

const isId = (id) => typeof id === 'string' && /^[\x21-\x7e]{1,128}$/.test(id);
const isCount = (n) => Number.isSafeInteger(n) && n > 0;
const isMutation = (mutation) =>
  isId(mutation?.clientID) && isCount(mutation.id) && typeof mutation.name === 'string';

function check(app, kind, body) {
  const refuse = (versionType) => new Refusal(200, 'VersionNotSupported', { versionType });
  if (body?.[`${kind}Version`] !== 1) throw refuse(kind);
  if (!app.schemaVersions.includes(body.schemaVersion)) throw refuse('schema');
  const isRight =
    kind === 'pull' || (Array.isArray(body.mutations) && body.mutations.every(isMutation));
  if (!isRight || !isId(body.clientGroupID)) throw new Refusal(400, 'invalid-request');
}

/** Makes the space if it is new, and locks it until the transaction ends: writers of a space take turns. */
async function lock(query, space) {
  const [{ version }] = await query(
    `INSERT INTO hedgerow_space (id, version, horizon) VALUES ($1, 0, 0)
     ON CONFLICT (id) DO UPDATE SET version = hedgerow_space.version RETURNING version`,
    [space],
  );
  return Number(version);
}

/**
 * Postgres has no U+0000, which keys of several members have between them: its place is taken by U+0001 twice, and the
 * place of U+0001 by U+0001 and U+0002. Stored keys have the same order.
 */
const toStored = (key) => key.replaceAll('\x01', '\x01\x02').replaceAll('\0', '\x01\x01');
const fromStored = (key) => key.replaceAll('\x01\x01', '\0').replaceAll('\x01\x02', '\x01');

/** Makes the transaction of a mutator. `query` is for your own tables: its writes are in the same transaction. */
function rowsOf(query, app, space, version) {
  const get = async (key) => {
    const sql = 'SELECT value FROM hedgerow_row WHERE space = $1 AND key = $2';
    const [row] = await query(sql, [space, toStored(key)]);
    return row?.value == null ? undefined : JSON.parse(row.value);
  };
  const write = (key, value) =>
    query(
      `INSERT INTO hedgerow_row (space, key, value, version) VALUES ($1, $2, $3, $4)
       ON CONFLICT (space, key) DO UPDATE SET value = excluded.value, version = excluded.version`,
      [space, toStored(key), value, version],
    );
  const set = async (key, value) => {
    const text = JSON.stringify(value);
    const isKey = typeof key === 'string' && key.isWellFormed();
    const bytes = isKey ? Buffer.byteLength(key) : 0;
    if (bytes < 1 || bytes > 1024 || text === undefined)
      throw new app.Rejected('no key or no JSON');
    await write(key, text);
  };
  const has = async (key) => (await get(key)) !== undefined;
  const del = async (key) => (await has(key)) && Boolean(await write(key, null));
  return { query, get, has, set, del };
}

/**
 * Applies one mutation with its number, in the transaction of its batch. Returns 1, or 0 if it has been done before.
 */
async function apply({ query, app, space, group, version, seen }, { clientID, id, name, args }) {
  const sql = 'SELECT group_id, last_mutation_id FROM hedgerow_client WHERE space = $1 AND id = $2';
  const [client] = await query(sql, [space, clientID]);
  if (client !== undefined && client.group_id !== group)
    throw new Refusal(403, 'wrong-client-group');
  const expected = Number(client?.last_mutation_id ?? 0) + 1;
  // A client sends all mutations without an answer. So no mutation before its first one can be missing, unless the
  // database has lost it, or is not the one that this client has pushed to before.
  if (id > expected && !seen.has(clientID)) throw new Refusal(200, 'ClientStateNotFound');
  if (id > expected) throw new Refusal(409, 'mutation-gap', { clientID, expected, id });
  seen.add(clientID);
  if (id < expected) return 0;
  // The client is newer than this server: it tries again, until the server is new, too.
  if (!Object.hasOwn(app.mutators, name)) throw new Refusal(501, 'unknown-mutator', { name });

  await query('SAVEPOINT mutation');
  try {
    const tx = { ...rowsOf(query, app, space, version), clientID, mutationID: id };
    await app.mutators[name](tx, args);
  } catch (error) {
    await query('ROLLBACK TO SAVEPOINT mutation');
    if (!(error instanceof app.Rejected)) throw error;
    // The next pull of this client has it.
    const refused = JSON.stringify({ clientID, id, why: error.message });
    const sql = 'INSERT INTO hedgerow_refusal VALUES ($1, $2, $3, $4)';
    await query(sql, [space, group, version, refused]);
  }
  await query('RELEASE SAVEPOINT mutation');
  await query(
    `INSERT INTO hedgerow_client (space, id, group_id, last_mutation_id, version) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (space, id) DO UPDATE SET last_mutation_id = $4, version = $5`,
    [space, clientID, group, id, version],
  );
  return 1;
}

/** Applies new mutations, in their order. Throws the error of a failing one; earlier ones stay. */
export async function push(database, app, space, body) {
  check(app, 'push', body);
  const group = body.clientGroupID;
  /** Clients with a mutation in this push. */
  const seen = new Set();
  for (let at = 0; at < body.mutations.length; at += BATCH) {
    let fault;
    await database.write(async (query) => {
      const version = (await lock(query, space)) + 1;
      let count = 0;
      try {
        for (const mutation of body.mutations.slice(at, at + BATCH))
          count += await apply({ query, app, space, group, version, seen }, mutation);
      } catch (error) {
        fault = error;
      }
      if (count === 0) return;
      await query('UPDATE hedgerow_space SET version = $2 WHERE id = $1', [space, version]);
      await query('INSERT INTO hedgerow_stamp VALUES ($1, $2, $3)', [space, version, randomUUID()]);
      await database.poke(query, { space, version });
    });
    if (fault !== undefined) throw fault;
  }
}

const operation = ({ key, value }) => {
  const text = JSON.stringify(fromStored(key));
  return value === null
    ? `{"op":"del","key":${text}}`
    : `{"op":"put","key":${text},"value":${value}}`;
};

const isCookie = (cookie) =>
  Number.isSafeInteger(cookie?.order) && cookie.order >= 0 && typeof cookie.stamp === 'string';

const NEWS = 'WHERE space = $1 AND group_id = $2 AND version > $3';
/** All rows by their keys (the plus keeps databases from the index of versions), or the changes by their versions. */
const ALL = '+version > $2 AND key > $3 AND value IS NOT NULL ORDER BY key';
const CHANGES = '(version, key) > ($2, $3) ORDER BY version, key';

/** Yields the text of the answer in parts: the changes since the cookie, or everything, all from one state. */
export async function* pull(database, app, space, body) {
  check(app, 'pull', body);
  const { clientGroupID, cookie = null } = body;
  const { query, end } = await database.snapshot();
  try {
    const [row] = await query('SELECT version, horizon FROM hedgerow_space WHERE id = $1', [space]);
    const [version, horizon] = [Number(row?.version ?? 0), Number(row?.horizon ?? 0)];
    const order = isCookie(cookie) ? cookie.order : version + 1;
    const of = 'SELECT stamp FROM hedgerow_stamp WHERE space = $1 AND version = $2';
    const [now, then] = [await query(of, [space, version]), await query(of, [space, order])];
    // Version 0 is empty, and a version before the horizon gets everything again.
    const isKnown =
      order <= version && (order < Math.max(horizon, 1) || then[0]?.stamp === cookie.stamp);
    // A cookie of another database, or of a version that this one has lost: the client must begin again.
    if (cookie !== null && !isKnown) throw new Refusal(200, 'ClientStateNotFound');
    // Deletions before the horizon are unknown.
    const isAll = cookie === null || order < horizon;
    const since = isAll ? -1 : order;
    const group = [space, clientGroupID, since];
    const clients = await query(`SELECT id, last_mutation_id FROM hedgerow_client ${NEWS}`, group);
    const ids = clients.map((client) => [client.id, Number(client.last_mutation_id)]);
    const lastMutationIDChanges = Object.fromEntries(ids);
    const refusals = await query(`SELECT refused FROM hedgerow_refusal ${NEWS}`, group);
    const refused = refusals.map((row) => JSON.parse(row.refused));
    const stamp = now[0]?.stamp ?? '';
    const start = { cookie: { order: version, stamp }, lastMutationIDChanges, refused };
    yield `${JSON.stringify(start).slice(0, -1)},"patch":[${isAll ? '{"op":"clear"}' : ''}`;

    const sql = `SELECT key, value, version FROM hedgerow_row WHERE space = $1 AND ${isAll ? ALL : CHANGES} LIMIT ${PAGE}`;
    let [separator, last] = [isAll ? ',' : '', { version: since + 1, key: '' }];
    for (let size = PAGE; size === PAGE; ) {
      const rows = await query(sql, [space, isAll ? -1 : last.version, last.key]);
      size = rows.length;
      if (size === 0) break;
      yield separator + rows.map(operation).join(',');
      separator = ',';
      last = rows[size - 1];
    }
    yield ']}';
  } finally {
    await inTransaction({ query, end }, () => {});
  }
}
