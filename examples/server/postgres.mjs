import pg from 'pg';
import { inTransaction, schema } from './schema.mjs';

/**
 * One state for all its reads. An index gives the pages of rows, so that none is sorted again, whatever statistics say.
 */
const SNAPSHOT = `BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
  SET LOCAL enable_sort = off; SET LOCAL enable_bitmapscan = off`;

export async function open(connectionString, onPoke) {
  const pool = new pg.Pool({ connectionString, max: 20, connectionTimeoutMillis: 10_000 });
  // A broken connection fails its queries; its event, without a listener, would end the process.
  pool.on('error', () => {}).on('connect', (client) => client.on('error', () => {}));
  // The lock is for servers that start at the same time.
  await pool.query(`SELECT pg_advisory_xact_lock(4711); ${schema('COLLATE "C"')}`);

  async function begin(how) {
    const client = await pool.connect();
    const query = async (sql, params) => (await client.query(sql, params)).rows;
    await query(how).catch((error) => {
      client.release(error);
      throw error;
    });
    return { query, end: (error) => client.release(error) };
  }

  let listener;
  async function listen() {
    listener = new pg.Client({ connectionString });
    const ended = new Promise((resolve) => listener.on('error', resolve).on('end', resolve));
    listener.on('notification', ({ payload }) => onPoke(JSON.parse(payload)));
    ended.then(() => setTimeout(() => pool.ending || listen(), 1000).unref());
    const isListening = listener.connect().then(() => listener.query('LISTEN hedgerow'));
    await isListening.catch(() => {});
  }
  await listen();

  return {
    // Each statement sees the commits before it; since the first one locks the space, that is one state.
    write: async (work) => inTransaction(await begin('BEGIN'), work),
    snapshot: () => begin(SNAPSHOT),
    poke: (query, poke) => query("SELECT pg_notify('hedgerow', $1)", [JSON.stringify(poke)]),
    close: () => Promise.all([pool.end(), listener.end()]),
  };
}
