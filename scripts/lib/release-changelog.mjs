// Reads and writes CHANGELOG.md: the one changelog, by hand and from changesets. Its first section has the unreleased
// changes.

import { CommandFailed } from './run.mjs';

/** The kinds of changes, in the order of the sections. */
export const KINDS = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'];

const UNRELEASED = 'Unreleased';
const TITLE = /^(\d+\.\d+\.\d+(?:-[\w.]+)?) - (\d{4}-\d{2}-\d{2})$/;

const refuse = (why) => {
  throw new CommandFailed(`CHANGELOG.md: ${why}`);
};

/** Returns the text of each kind in a section. */
function kindsOf(title, body) {
  const [before, ...parts] = body.split(/^### /m);
  if (before.trim() !== '') refuse(`under ${title} a line stands before the first kind of change`);
  const kinds = new Map();
  for (const part of parts) {
    const end = part.indexOf('\n');
    const [kind, text] = [part.slice(0, end).trim(), part.slice(end).trim()];
    if (!KINDS.includes(kind)) refuse(`${kind} under ${title} is none of ${KINDS.join(', ')}`);
    if (kinds.has(kind)) refuse(`${title} has two parts ${kind}`);
    if (!text.startsWith('- ')) refuse(`${kind} under ${title} has no list`);
    kinds.set(kind, text);
  }
  return kinds;
}

/** Splits the changelog: the part before the first version, then the versions, the newest first. */
export function readChangelog(text) {
  const [intro, ...parts] = text.split(/^## /m);
  const sections = parts.map((part) => {
    const end = part.indexOf('\n');
    const title = part.slice(0, end).trim();
    const [, version, date] = TITLE.exec(title) ?? [];
    if (version === undefined && title !== UNRELEASED)
      refuse(`${title} is neither ${UNRELEASED} nor like 1.2.3 - 2030-12-31`);
    return { title, version, date, kinds: kindsOf(title, part.slice(end)) };
  });
  if (sections[0]?.title !== UNRELEASED) refuse(`the first section is not ${UNRELEASED}`);
  const titles = sections.map(({ title, version }) => version ?? title);
  if (new Set(titles).size < titles.length) refuse('a version is there twice');
  return { intro, sections };
}

/** Returns the text of a section without its title. */
const bodyOf = ({ kinds }) =>
  [...kinds].map(([kind, text]) => `### ${kind}\n\n${text}\n`).join('\n');

function textOf({ intro, sections }) {
  const parts = sections.map((one) => `## ${one.title}\n\n${bodyOf(one)}`.trimEnd());
  return `${intro}${parts.join('\n\n')}\n`;
}

/** Whether the changelog has this version, which is released then. */
export const isReleased = (changelog, version) =>
  changelog.sections.some((section) => section.version === version);

/** Whether the section *Unreleased* has entries. */
export const hasUnreleased = ({ sections: [unreleased] }) => unreleased.kinds.size > 0;

/** Breaks one line of a list, as the others are broken. */
export function listed(text, width = 120) {
  const lines = ['-'];
  for (const word of text.trim().split(/\s+/)) {
    if (`${lines.at(-1)} ${word}`.length > width) lines.push(`  ${word}`);
    else lines.push(`${lines.pop()} ${word}`);
  }
  return lines.join('\n');
}

/** Returns the changelog with a version made of the unreleased changes and these `entries`: a kind and a text each. */
export function withVersion(text, { version, date, entries = [] }) {
  const { intro, sections } = readChangelog(text);
  const [unreleased, ...others] = sections;
  if (isReleased({ sections }, version)) refuse(`it has ${version} already`);
  const kinds = new Map(unreleased.kinds);
  for (const { kind, text: line } of entries) {
    const before = kinds.has(kind) ? `${kinds.get(kind)}\n` : '';
    kinds.set(kind, before + listed(line));
  }
  if (kinds.size === 0) refuse(`nothing is under ${UNRELEASED}, and no changeset has a line`);
  const ordered = new Map(
    KINDS.filter((kind) => kinds.has(kind)).map((kind) => [kind, kinds.get(kind)]),
  );
  const made = { title: `${version} - ${date}`, version, date, kinds: ordered };
  return textOf({ intro, sections: [{ ...unreleased, kinds: new Map() }, made, ...others] });
}

/** Returns the news of a version, for its release. */
export function notesOf(text, version) {
  const found = readChangelog(text).sections.find((section) => section.version === version);
  if (found === undefined) refuse(`it has no ${version}`);
  return bodyOf(found);
}
