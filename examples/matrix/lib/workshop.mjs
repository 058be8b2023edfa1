// The folder of a tool: its files, its packages, and the programs that run in it.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../../scripts/lib/free-port.mjs';
import { ROOT, run } from '../../../scripts/lib/run.mjs';
import { VERSIONS } from '../versions.mjs';
import { serveFolder } from './site.mjs';

const APP = join(dirname(dirname(fileURLToPath(import.meta.url))), 'app');
const START_MS = 120_000;
const RUN_MS = 300_000;

/** Running servers: they must not outlive this process. */
const groups = new Set();
function endGroup(pid) {
  if (!groups.delete(pid)) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}
process.on('exit', () => {
  for (const pid of groups) endGroup(pid);
});

/** Whether the root of the repository has exactly this version. */
export function isInRoot(name) {
  const file = join(ROOT, 'node_modules', name, 'package.json');
  const require = createRequire(import.meta.url);
  return existsSync(file) && require(file).version === VERSIONS[name];
}

export class Workshop {
  #stops = [];

  constructor(dir, visits) {
    this.dir = dir;
    this.visits = visits;
  }

  /** Returns the path of a package of the root. */
  fromRoot(name) {
    return join(ROOT, 'node_modules', name);
  }

  path(...parts) {
    return join(this.dir, ...parts);
  }

  async write(files) {
    for (const [name, text] of Object.entries(files)) {
      const file = this.path(name);
      await mkdir(dirname(file), { recursive: true });
      const content = typeof text === 'string' ? text : `${JSON.stringify(text, undefined, 2)}\n`;
      await writeFile(file, content);
    }
  }

  read(name) {
    return readFile(this.path(name), 'utf8');
  }

  /** Starts with only the app of the matrix in `src`, and `manifest` in package.json. */
  async begin(manifest = {}) {
    await rm(this.dir, { recursive: true, force: true });
    await mkdir(this.dir, { recursive: true });
    await cp(APP, this.path('src'), { recursive: true });
    await this.write({ 'package.json': { private: true, type: 'module', ...manifest } });
  }

  /** Installs our packages and others as a user does. */
  async install(names, { scripts = [] } = {}) {
    const wanted = names.map((name) => `${name}@${VERSIONS[name]}`);
    const quick = ['--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline'];
    await this.run('npm', ['install', ...quick, ...Object.values(this.tarballs), ...wanted]);
    if (scripts.length > 0) await this.run('npm', ['rebuild', ...scripts]);
  }

  /** Unpacks our packages where npm would have put them; everything else comes from the root of the repository. */
  async unpack() {
    for (const [name, tarball] of Object.entries(this.tarballs)) {
      const to = this.path('node_modules', name);
      await mkdir(to, { recursive: true });
      await run('tar', ['-xf', tarball, '-C', to, '--strip-components', '1'], { quiet: true });
    }
  }

  #env(env = {}) {
    // The folder's own programs come first.
    const path = [
      this.path('node_modules', '.bin'),
      join(ROOT, 'node_modules', '.bin'),
      process.env.PATH,
    ];
    return { ...process.env, CI: 'true', PATH: path.join(delimiter), ...env };
  }

  /** Runs a program to its end; returns its output. */
  async run(command, args, { env, cwd = this.dir } = {}) {
    const child = spawn(command, args, {
      cwd,
      env: this.#env(env),
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: RUN_MS,
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    }
    const [code] = await once(child, 'close').catch((error) => [error.message]);
    if (code === 0) return output;
    const tail = output.trim().split('\n').slice(-25).join('\n');
    throw Object.assign(new Error(`${command} ${args.join(' ')}: exit ${code}\n${tail}`), {
      output,
    });
  }

  /** Runs a program, and returns the results that it prints, a line of JSON each, by their names. */
  async results(command, args, options) {
    const output = await this.run(command, args, options);
    const lines = output.split('\n').filter((line) => line.startsWith('{"name"'));
    if (lines.length === 0) throw new Error(`${command}: no result in: ${output.slice(-500)}`);
    return Object.fromEntries(lines.map((line) => JSON.parse(line)).map((one) => [one.name, one]));
  }

  /**
   * Starts a server that runs until the case ends. `args` is a function of the port to take. It is ready when it
   * answers.
   */
  async start(command, args, { env, path = '/' } = {}) {
    const port = await freePort();
    // Its own group: ending the group ends the programs that it has started.
    const child = spawn(command, args(port), {
      cwd: this.dir,
      env: this.#env({ PORT: String(port), ...env }),
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    }
    let isOver = false;
    const over = new Promise((resolve) => {
      child.on('error', (error) => {
        output += error.message;
      });
      child.on('close', () => {
        isOver = true;
        resolve();
      });
    });
    groups.add(child.pid);
    this.#stops.push(async () => {
      endGroup(child.pid);
      await over;
    });
    const url = `http://localhost:${port}`;
    const end = performance.now() + START_MS;
    for (;;) {
      if (isOver) throw new Error(`${command} ended: ${output.slice(-1500)}`);
      const answer = await fetch(url + path).catch(() => undefined);
      await answer?.body?.cancel();
      if (answer?.ok) return { url: url + path, output: () => output };
      if (performance.now() > end)
        throw new Error(`${command} does not answer: ${output.slice(-1500)}`);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }

  /** Serves a folder until the case ends. */
  async serve(folder, headers) {
    const site = await serveFolder(this.path(folder), headers);
    this.#stops.push(site.close);
    return site.url;
  }

  /** Returns the results of a page. */
  visit(url, names = ['page'], options = {}) {
    return this.visits.results(url, names, options);
  }

  /** Empties a folder of earlier builds. */
  async empty(folder) {
    await rm(this.path(folder), { recursive: true, force: true });
    await mkdir(this.path(folder), { recursive: true });
  }

  /** Ends all servers of a case. */
  async tidy() {
    for (const stop of this.#stops.splice(0)) await stop();
  }
}

/** A page that runs one module. */
export const html = (script, head = '') => `<!doctype html>
<html lang="en">
  <head><meta charset="utf-8"><title>Matrix</title><link rel="icon" href="data:,">${head}</head>
  <body><script type="module" src="${script}"></script></body>
</html>
`;
