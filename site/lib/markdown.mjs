// Turns the pages of `docs/`, written to be read in a repository, into pages of the site.

/** Returns the anchor of a heading, as GitHub makes it: the pages link to these. */
export const anchorOf = (heading) =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/ /g, '-');

/** Files outside of `docs/` that have a page of the site. */
const ELSEWHERE = [
  [/^(?:\.\.\/)+README\.md(#.*)?$/, '/'],
  [/^(?:\.\.\/)+CHANGELOG\.md(#.*)?$/, '/reference/changelog'],
];

/** Returns the target of a link on the site; `undefined` for a file that the site lacks. */
export function onSite(href, relativePath) {
  const depth = relativePath.split('/').length - 1;
  if (!href.startsWith('../'.repeat(depth + 1))) return href;
  for (const [pattern, page] of ELSEWHERE) if (pattern.test(href)) return page;
  return undefined;
}

/** Removes the heading of a table if it is empty. */
function emptyHeads(md) {
  md.core.ruler.push('empty-heads', ({ tokens }) => {
    for (const [at, token] of tokens.entries()) {
      if (token.type !== 'th_open' || tokens[at + 1].content !== '') continue;
      token.tag = 'td';
      tokens[at + 2].tag = 'td';
    }
  });
}

export function ownMarkdown(md) {
  emptyHeads(md);
  ownLinks(md);
}

/** Turns links to files of the repository that are no pages into text. */
function ownLinks(md) {
  md.core.ruler.push('own-links', ({ tokens, env }) => {
    for (const { children } of tokens) {
      const open = [];
      for (const token of children ?? []) {
        if (token.type === 'link_open') {
          const href = onSite(token.attrGet('href') ?? '', env.relativePath ?? '');
          if (href === undefined) token.hidden = true;
          else token.attrSet('href', href);
          open.push(token);
        }
        if (token.type === 'link_close' && open.pop()?.hidden) token.hidden = true;
      }
    }
  });
  // The renderer still passes hidden tokens within a line to their rules.
  for (const type of ['link_open', 'link_close']) {
    const before = md.renderer.rules[type];
    md.renderer.rules[type] = (tokens, at, options, env, self) => {
      if (tokens[at].hidden) return '';
      return before
        ? before(tokens, at, options, env, self)
        : self.renderToken(tokens, at, options);
    };
  }
}
