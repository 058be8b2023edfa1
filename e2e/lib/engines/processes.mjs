// Finds the processes of a running browser, which a test may stop or end as an operating system does.

import { execFileSync } from 'node:child_process';
import { pause } from './limits.mjs';

/** The time in which a working page answers, in milliseconds. */
const ANSWER_MS = 3000;
/** A part of the command of a process that runs pages. */
const PAGES = { firefox: /-contentproc\b.*\btab$/, webkit: /WebKitWebProcess/ };

/** Lists all processes below `pid`: their ids and commands. */
export function processesBelow(pid) {
  const lines = execFileSync('ps', ['-axwwo', 'pid=,ppid=,args='], { encoding: 'utf8' });
  const all = [...lines.matchAll(/^\s*(\d+)\s+(\d+)\s+(.*?)\s*$/gm)].map(
    ([, id, parent, command]) => ({ id: Number(id), parent: Number(parent), command }),
  );
  const below = (id) =>
    all.filter(({ parent }) => parent === id).flatMap((one) => [one, ...below(one.id)]);
  return below(pid);
}

/** Stops only the process of `page`; returns its id. `other` is a page of another process. */
export async function stopProcessOf(page, other) {
  const { name, pid } = page.context();
  const candidates = processesBelow(pid).filter(({ command }) => PAGES[name].test(command));
  for (const { id } of candidates) {
    process.kill(id, 'SIGSTOP');
    const isOthers = (await answers(other)) === false;
    if (!isOthers && !(await answers(page))) return id;
    process.kill(id, 'SIGCONT');
    if (isOthers) await answers(other);
  }
  throw new Error(`the page has no process of its own among ${candidates.length}`);
}

async function answers(page) {
  const answer = page.evaluate(() => true).catch(() => false);
  return Promise.race([answer, pause(ANSWER_MS).then(() => false)]);
}
