// How the pages of `docs/`, written to be read in a repository, become pages of the site.

/** The anchor of a heading, as GitHub makes it: the pages link to these. */
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

/** Where a link leads on the site: `undefined` if to a file that it does not have. */
export function onSite(href, relativePath) {
  const depth = relativePath.split('/').length - 1;
  if (!href.startsWith('../'.repeat(depth + 1))) return href;
  for (const [pattern, page] of ELSEWHERE) if (pattern.test(href)) return page;
  return undefined;
}

/** A heading of a table that says nothing is no heading. */
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

/** Makes text of links to files of the repository that are no pages. */
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
  // Hidden tokens within a line are still given to their rules.
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
