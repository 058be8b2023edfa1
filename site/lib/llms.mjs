// Writes `llms.txt`, a list of the pages for programs that read, and `llms-full.txt`, the pages themselves, without the
// pages about the development of the library.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sidebar } from './sidebar.mjs';

const INNER = ['architecture', 'format', 'decisions', 'testing'].map((name) => `/${name}`);

export function writeLlms({ outDir, docs, base, description }) {
  const { '/': sections, '/errors/': errors, '/reference/': entries } = sidebar(docs);
  const textOf = (link) =>
    readFileSync(join(docs, `${link.endsWith('/') ? `${link}index` : link}.md`), 'utf8')
      .replace(/^---\n[\s\S]*?\n---\n/, '')
      .replace(/^<!--[\s\S]*?-->\n/gm, '')
      // The keys of figures.
      .replace(/<!-- =[\w.-]+ -->/g, '')
      // The components of interactive pages.
      .replace(/^<[A-Z]\w+ \/>\n\n/gm, '');
  const groups = [...sections, errors[0], entries[1]].map(({ text, items }) => ({ text, items }));
  const list = groups.map(({ text, items }) => {
    const lines = items.map(
      (item) => `- [${item.text}](${base}${item.link.slice(1).replace(/\/$/, '/index')}.html)`,
    );
    return `## ${text}\n\n${lines.join('\n')}\n`;
  });
  const head = `# Hedgerow\n\n> ${description}\n\n`;
  writeFileSync(join(outDir, 'llms.txt'), head + list.join('\n'));

  const seen = new Set(INNER);
  const parts = ['/index'].concat(groups.flatMap(({ items }) => items.map(({ link }) => link)));
  const full = parts
    // A page may be in two groups; the generated reference repeats `api.md`.
    .filter((link) => !seen.has(link) && !link.startsWith('/reference/') && seen.add(link))
    .map((link) => `<!-- page: ${link} -->\n\n${textOf(link).trim()}\n`);
  writeFileSync(join(outDir, 'llms-full.txt'), head + full.join('\n'));
}
