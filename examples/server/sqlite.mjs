import { inTransaction, schema } from './schema.mjs';

/** Loads the driver: `node:sqlite` came with Node 22; `better-sqlite3` does the same before. */
export const loadDriver = () =>
  import('node:sqlite').then(
    ({ DatabaseSync }) => DatabaseSync,
    async () => (await import('better-sqlite3')).default,
  );

const PRAGMAS = 'PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;';

export async function open(file, onPoke) {
  const Driver = await loadDriver();

  function connect() {
    const connection = new Driver(file);
    connection.exec(PRAGMAS);
    const statements = new Map();
    const query = async (sql, params = []) => {
      const statement = statements.get(sql) ?? connection.prepare(sql);
      statements.set(sql, statement);
      const values = Object.fromEntries(params.map((value, i) => [i + 1, value]));
      if (statement.reader !== false) return statement.all(values);
      statement.run(values);
      return [];
    };
    return { connection, query, end: () => connection.close() };
  }

  const { connection, query } = connect();
  connection.exec(schema(''));
  const pokes = [];
  async function write(work) {
    await query('BEGIN IMMEDIATE');
    pokes.length = 0;
    const result = await inTransaction({ query, end: () => {} }, work);
    for (const poke of pokes) onPoke(poke);
    return result;
  }

  // One connection writes, so its transactions take turns; each snapshot has its own connection.
  let turn = Promise.resolve();
  return {
    write: (work) => {
      const result = turn.then(() => write(work));
      turn = result.catch(() => {});
      return result;
    },
    snapshot: async () => {
      const reader = connect();
      await reader.query('BEGIN');
      return reader;
    },
    poke: async (_query, poke) => pokes.push(poke),
    close: () => turn.then(() => connection.close()),
  };
}
