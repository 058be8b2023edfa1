// Reads the files of `.changeset`: how much each raises the version, and its lines for the changelog.

import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { KINDS } from './release-changelog.mjs';
import { CommandFailed } from './run.mjs';

const BUMPS = ['patch', 'minor', 'major'];
const PACKAGE = 'hedgerow';
const FRONT = /^---\n([\s\S]*?)^---\n?([\s\S]*)$/m;
const ENTRY = new RegExp(`^(${KINDS.join('|')}): (\\S[\\s\\S]*)$`);

/** Reads one file: `bump` is `undefined` if users see no effect of the change. */
export async function readChangeset(name, text) {
  // Imported late: its package is only there once `setup` has run.
  const { parse } = await import('yaml');
  const refuse = (why) => {
    throw new CommandFailed(`.changeset/${name}: ${why}`);
  };
  const [, front, summary] = FRONT.exec(text.replaceAll('\r\n', '\n')) ?? refuse('no front matter');
  const bumps = Object.entries(parse(front) ?? {});
  for (const [one, bump] of bumps) {
    if (one !== PACKAGE) refuse(`${one} is not published: name ${PACKAGE}`);
    if (!BUMPS.includes(bump)) refuse(`${bump} is none of ${BUMPS.join(', ')}`);
  }
  const paragraphs = summary.split(/\n\s*\n/).map((one) => one.trim());
  const entries = paragraphs.filter(Boolean).map((paragraph) => {
    const [, kind, line] = ENTRY.exec(paragraph) ?? [];
    if (kind === undefined)
      refuse(`a paragraph begins with none of ${KINDS.map((one) => `${one}:`).join(', ')}`);
    return { kind, text: line };
  });
  const bump = bumps[0]?.[1];
  if (bump === undefined && entries.length > 0) refuse(`it has lines, and raises no version`);
  return { name, bump, entries };
}

const filesIn = async (root) =>
  (await readdir(join(root, '.changeset')))
    .filter((name) => name.endsWith('.md') && name !== 'README.md')
    .sort();

/** Reads all of them, in the order of their names. */
export async function readChangesets(root) {
  const read = async (name) =>
    readChangeset(name, await readFile(join(root, '.changeset', name), 'utf8'));
  return Promise.all((await filesIn(root)).map(read));
}

/** Deletes all of them. */
export async function removeChangesets(root) {
  for (const name of await filesIn(root)) await rm(join(root, '.changeset', name));
}
