// Finds Postgres, and starts throw-away clusters of it for tests and measurements. Uses only built-ins of Node, since
// `setup.mjs` needs it before `npm ci` has run.

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installPackages } from './browser.mjs';
import { freePort } from './free-port.mjs';
import { ask, CommandFailed } from './run.mjs';

/** Debian keeps each version in its own folder, outside of PATH. */
const DEBIAN_DIR = '/usr/lib/postgresql';

/** Returns the folder of `initdb` and `postgres`, or `undefined`. `POSTGRES_BIN` has priority. */
export function findPostgres() {
  const chosen = process.env.POSTGRES_BIN;
  if (chosen && !existsSync(join(chosen, 'initdb'))) {
    throw new CommandFailed(`POSTGRES_BIN is ${chosen}, and there is no initdb`);
  }
  const versions = existsSync(DEBIAN_DIR) ? readdirSync(DEBIAN_DIR) : [];
  const newestFirst = versions.sort((a, b) => Number(b) - Number(a));
  const places = [...newestFirst.map((version) => join(DEBIAN_DIR, version, 'bin'))];
  const fromPath = ask('pg_config', ['--bindir']);
  const all = [chosen, ...places, fromPath].filter(Boolean);
  return all.find(
    (place) => existsSync(join(place, 'initdb')) && existsSync(join(place, 'postgres')),
  );
}

/** The tool for `setup.mjs`. */
export const POSTGRES = {
  name: 'postgres',
  find: () => {
    const place = findPostgres();
    return place && ask(join(place, 'postgres'), ['--version']);
  },
  install: () => installPackages(['postgresql']),
  advice: 'install PostgreSQL (Debian: postgresql), and set POSTGRES_BIN to the folder of initdb',
  isOptional: true,
};

/** Postgres refuses to run as root, so it then runs as the user of Debian's package, or as the user `nobody`. */
function unprivileged() {
  if (process.getuid?.() !== 0) return {};
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
  const line = ['postgres', 'nobody'].flatMap((name) =>
    lines.filter((one) => one.startsWith(`${name}:`)),
  )[0];
  if (line === undefined)
    throw new CommandFailed('there is no user postgres and none called nobody');
  const [, , uid, gid] = line.split(':');
  return { uid: Number(uid), gid: Number(gid) };
}

/** Runs a program of Postgres to its end; rejects with its output. */
async function finish(child, what) {
  let said = '';
  child.stderr.on('data', (text) => {
    said += text;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new CommandFailed(`${what}: exit ${code}\n${said}`);
}

/**
 * Starts a cluster in a temporary folder, for this machine and one password only. Without `durable` it never flushes.
 * `stop` ends it and deletes its folder.
 */
export async function startPostgres({ durable = false } = {}) {
  const place = findPostgres();
  if (place === undefined) throw new CommandFailed(`postgres is missing: ${POSTGRES.advice}`);
  const user = unprivileged();
  const folder = mkdtempSync(join(tmpdir(), 'hedgerow-postgres-'));
  const data = join(folder, 'data');
  const passwordFile = join(folder, 'password');
  const password = randomBytes(16).toString('hex');
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (user.uid !== undefined)
    for (const path of [folder, passwordFile]) chownSync(path, user.uid, user.gid);
  const options = {
    ...user,
    cwd: folder,
    env: { LC_ALL: 'C', TZ: 'UTC' },
    stdio: ['ignore', 'ignore', 'pipe'],
  };
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const init = ['-D', data, '-U', 'hedgerow', '-E', 'UTF8', '--auth=scram-sha-256'];
    const args = [...init, `--pwfile=${passwordFile}`, '--no-sync', '--no-instructions'];
    await finish(spawn(join(place, 'initdb'), args, options), 'initdb');
    const port = await freePort();
    const settings = { listen_addresses: '127.0.0.1', port, unix_socket_directories: folder };
    if (!durable)
      Object.assign(settings, { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' });
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const child = spawn(join(place, 'postgres'), ['-D', data, ...flags], options);
    const closed = once(child, 'close');
    // A script that ends early leaves no server behind.
    const leave = () => process.exit(1);
    const end = () => {
      child.kill('SIGQUIT');
      remove();
    };
    process.once('exit', end);
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, leave);
    await isReady(child);
    const url = `postgres://hedgerow:${password}@127.0.0.1:${port}/postgres`;
    const stop = async () => {
      child.kill('SIGINT'); // The fast shutdown: it ends the sessions.
      await closed;
      process.off('exit', end);
      for (const signal of ['SIGINT', 'SIGTERM']) process.off(signal, leave);
      remove();
    };
    return { url, stop };
  } catch (error) {
    remove();
    throw error;
  }
}

/** Waits until a server says that it is ready; rejects with its output if it ends before. */
function isReady(child) {
  let said = '';
  return new Promise((resolve, reject) => {
    child.stderr.on('data', (text) => {
      said += text;
      if (/ready to accept connections/.test(said)) resolve();
    });
    child.on('error', reject);
    child.on('close', () => reject(new CommandFailed(`postgres has ended:\n${said}`)));
  });
}
