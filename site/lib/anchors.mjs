// Checks the links of the built site: VitePress knows pages, but not the headings within them.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

const BASE = process.env.DOCS_BASE ?? '/';

/** Throws, with a list, if a link leads to a missing page or anchor. Returns the number of links. */
export function checkAnchors(folder) {
  const pages = new Map();
  for (const name of readdirSync(folder, { recursive: true })) {
    const path = name.replaceAll('\\', '/');
    if (!path.endsWith('.html')) continue;
    const html = readFileSync(join(folder, name), 'utf8');
    const ids = new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
    const hrefs = [...html.matchAll(/<a[^>]* href="([^"]+)"/g)].map(([, href]) => href);
    pages.set(path, { ids, hrefs });
  }
  const faults = new Set();
  let links = 0;
  for (const [page, { hrefs }] of pages) {
    for (const href of hrefs) {
      if (/^\w+:/.test(href)) continue;
      links += 1;
      const [path, anchor] = href.replaceAll('&amp;', '&').split('#');
      const target = targetOf(page, path);
      const isFile = existsSync(join(folder, target));
      if (!isFile) faults.add(`${page}: ${href}: no such page`);
      else if (anchor && !pages.get(target)?.ids.has(decodeURIComponent(anchor)))
        faults.add(`${page}: ${href}: no such heading`);
    }
  }
  if (faults.size > 0) throw new Error(`links that lead nowhere:\n${[...faults].join('\n')}`);
  return { pages: pages.size, links };
}

function targetOf(page, path) {
  if (path === '') return page;
  const full = path.startsWith(BASE)
    ? path.slice(BASE.length)
    : posix.join(posix.dirname(page), path);
  const clean = decodeURIComponent(full);
  return clean === '' || clean.endsWith('/') ? `${clean}index.html` : clean;
}
