// Runs a browser in its own process group, so that all of its processes can be killed at once, as when a machine kills
// them. No browser outlives this process.

import { spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { pause, within } from './limits.mjs';

const END_MS = 20_000;
const running = new Set();
process.once('exit', () => {
  for (const one of running) one.signal();
});

/** A command and all processes that it starts. */
export class ProcessGroup {
  #child;
  #exited;
  #name;

  /** Starts `command`; errors call it `name`. */
  constructor(name, command, args, { env, stdio = ['ignore', 'ignore', 'pipe'] } = {}) {
    this.#name = name;
    this.#child = spawn(command, args, {
      stdio,
      env: { ...process.env, ...env },
      detached: process.platform !== 'win32',
    });
    // A command that does not start exits, too.
    this.#exited = new Promise((resolve) => {
      this.#child.once('exit', resolve);
      this.#child.once('error', resolve);
    });
    running.add(this);
  }

  get pid() {
    return this.#child.pid;
  }

  get stdin() {
    return this.#child.stdin;
  }

  get stdout() {
    return this.#child.stdout;
  }

  /** Resolves when the first process has ended. */
  unref() {
    this.#child.unref();
    this.#child.stderr?.unref?.();
  }

  get exited() {
    return this.#exited;
  }

  /** Resolves to the first match of `pattern` on stderr; drops all later output. */
  async said(pattern, ms = 30_000) {
    const { stderr } = this.#child;
    const lines = createInterface({ input: stderr });
    this.#exited.then(() => lines.close());
    const read = async () => {
      const said = [];
      for await (const line of lines) {
        const found = pattern.exec(line);
        if (found !== null) return found;
        said.push(line);
      }
      throw new Error(`${this.#name} did not start: ${said.join('\n')}`);
    };
    const found = await within(ms, `the start of ${this.#name}`, read());
    // A process stops when its output has no reader.
    stderr.resume();
    return found;
  }

  /** Sends SIGKILL to all processes of the group, in one system call. */
  signal() {
    const { pid } = this.#child;
    if (pid === undefined) return;
    try {
      if (process.platform === 'win32') spawnSync('taskkill', ['/pid', String(pid), '/t', '/f']);
      else process.kill(-pid, 'SIGKILL');
    } catch {
      // The group is gone already.
    }
  }

  /** Kills all processes of the group; resolves when all have ended. */
  async kill() {
    this.signal();
    await within(END_MS, `the death of ${this.#name}`, this.#exited);
    await this.#gone();
  }

  /** Waits until all processes have ended by themselves; if they do not, kills them and fails. */
  async ended() {
    try {
      await within(END_MS, `the end of ${this.#name}`, this.#exited);
    } catch (cause) {
      await this.kill();
      throw cause;
    }
    await this.#gone();
  }

  async #gone() {
    const { pid } = this.#child;
    for (let waited = 0; waited < END_MS && isGroupAlive(pid); waited += 10) await pause(10);
    running.delete(this);
  }
}

/** Whether a process of the group is left; dead ones that are not yet reaped do not count. */
function isGroupAlive(pid) {
  if (pid === undefined || process.platform === 'win32') return false;
  try {
    process.kill(-pid, 0);
  } catch {
    return false;
  }
  if (process.platform !== 'linux') return true;
  const { stdout, status } = spawnSync('ps', ['-o', 'stat=', '-g', String(pid)], {
    encoding: 'utf8',
  });
  return status === 0 && stdout.split('\n').some((line) => /^[^Z\s]/.test(line.trim()));
}
