// Starts databases to test on, each read by other means than the server's, and servers in their own processes.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { findPostgres, POSTGRES, startPostgres } from '../../../scripts/lib/postgres.mjs';
import { loadDriver } from '../sqlite.mjs';

const Sqlite = await loadDriver();
const SERVER = fileURLToPath(new URL('../server.mjs', import.meta.url));
export const TEST_APP = fileURLToPath(new URL('app.mjs', import.meta.url));
const AUDIT = `CREATE TABLE audit (at INTEGER PRIMARY KEY AUTOINCREMENT, client text, mutation bigint, name text, args text)`;

/** `create` makes a new, empty database: the arguments of the server, and `query`, which reads it directly. */
const sqlite = {
  name: 'SQLite',
  start: async () => {},
  stop: async () => {},
  async create() {
    const folder = mkdtempSync(join(tmpdir(), 'hedgerow-server-'));
    const file = join(folder, 'rows.sqlite');
    const connection = new Sqlite(file);
    connection.exec(AUDIT);
    return {
      args: ['--sqlite', file],
      query: async (sql) => {
        const statement = connection.prepare(sql);
        return statement.reader === false ? statement.run() : statement.all();
      },
      drop: async () => {
        connection.close();
        rmSync(folder, { recursive: true, force: true });
      },
    };
  },
};

let cluster;
let databases = 0;
const postgres = {
  name: 'Postgres',
  async start({ durable = false } = {}) {
    cluster = await startPostgres({ durable });
  },
  stop: () => cluster?.stop(),
  async create() {
    const name = `test${++databases}`;
    const admin = new pg.Client(cluster.url);
    await admin.connect();
    await admin.query(`CREATE DATABASE ${name}`);
    await admin.end();
    const url = cluster.url.replace(/postgres$/, name);
    const client = new pg.Client(url);
    client.on('error', () => {});
    await client.connect();
    await client.query(AUDIT.replace('INTEGER PRIMARY KEY AUTOINCREMENT', 'bigserial PRIMARY KEY'));
    return {
      args: ['--postgres', url],
      query: async (sql) => (await client.query(sql)).rows,
      drop: () => client.end(),
    };
  },
};

/** SQLite always, and Postgres where it is installed. */
export const DATABASES = findPostgres() === undefined ? [sqlite] : [sqlite, postgres];
if (DATABASES.length < 2)
  console.log(`*** postgres is missing: ${POSTGRES.advice}\n*** What is tested in it is left out.`);

/** Starts a server; returns its address as `url`. */
export async function startServer(args, { app = TEST_APP, token } = {}) {
  const all = [SERVER, ...args, '--port', '0', '--app', app];
  // `SERVER_NODE` is the path of another Node for the server: 22 and later have `node:sqlite`.
  const child = spawn(process.env.SERVER_NODE ?? process.execPath, all, {
    env: { ...process.env, HEDGEROW_TOKEN: token ?? '', NODE_NO_WARNINGS: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (text) => {
    said += text;
  });
  const closed = once(child, 'close');
  // A test that ends early leaves no server behind.
  const end = () => child.kill('SIGKILL');
  process.once('exit', end);
  closed.finally(() => process.off('exit', end)).catch(() => {});
  const lines = createInterface(child.stdout);
  const url = await new Promise((resolve, reject) => {
    lines.on('line', (line) => {
      const [, found] = /^listening on (\S+)$/.exec(line) ?? [];
      if (found !== undefined) resolve(found);
    });
    closed.then(([code]) => reject(new Error(`the server has ended: ${code}\n${said}`)), reject);
  });
  return {
    url,
    said: () => said,
    pid: child.pid,
    stop: async (signal = 'SIGTERM') => {
      child.kill(signal);
      const [code] = await closed;
      return code;
    },
  };
}

export async function post(url, body, headers = {}) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

/** A client of the protocol by hand, with the numbers of its mutations. */
export class Client {
  cookie = null;
  next = 1;
  constructor(url, clientID, { group = `group-of-${clientID}`, space = 'default' } = {}) {
    Object.assign(this, { url, clientID, group, space });
  }
  mutation(name, args, id = this.next++) {
    return { clientID: this.clientID, id, name, args, timestamp: 0 };
  }
  send(mutations, more = {}) {
    const { group: clientGroupID } = this;
    const body = { pushVersion: 1, schemaVersion: '', profileID: 'p', clientGroupID, mutations };
    return post(`${this.url}/push?space=${this.space}`, { ...body, ...more });
  }
  push(name, args) {
    return this.send([this.mutation(name, args)]);
  }
  ask(more = {}) {
    const { cookie, group: clientGroupID } = this;
    const body = { pullVersion: 1, schemaVersion: '', profileID: 'p', clientGroupID, cookie };
    return post(`${this.url}/pull?space=${this.space}`, { ...body, ...more });
  }
  async pull() {
    const { status, body } = await this.ask();
    if (status !== 200 || body.error) throw new Error(`${status} ${JSON.stringify(body)}`);
    this.cookie = body.cookie;
    return body;
  }
}
