// The documentation site. Its pages are the files of `docs/`; generated ones are in `docs/reference/`
// (`scripts/docs.mjs`).

import { fileURLToPath } from 'node:url';
import dark from '@shikijs/themes/github-dark-high-contrast';
import light from '@shikijs/themes/github-light-high-contrast';
import { defineConfig } from 'vitepress';
import { writeLlms } from '../lib/llms.mjs';
import { anchorOf, ownMarkdown } from '../lib/markdown.mjs';
import { NAV, sidebar } from '../lib/sidebar.mjs';

const path = (name) => fileURLToPath(new URL(`../../${name}`, import.meta.url));

const BASE = process.env.DOCS_BASE ?? '/';
const DESCRIPTION =
  'A local database for web apps that keeps the page responsive, shows the same rows in every tab, survives crashes, and syncs with your own server or a bucket.';

/** Darkens the theme's comments, which are too faint on the paper of this site: axe asks for a contrast of 4.5. */
function withDarkerComments(theme) {
  return JSON.parse(JSON.stringify(theme).replaceAll(/#66707b/gi, '#575f69'));
}

export default defineConfig({
  title: 'Hedgerow',
  description: DESCRIPTION,
  lang: 'en',
  base: BASE,
  srcDir: path('docs'),
  outDir: path('site/dist'),
  cacheDir: path('.cache/vitepress'),
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: `${BASE}leaf.svg` }]],
  markdown: {
    anchor: { slugify: anchorOf },
    theme: { light: withDarkerComments(light), dark },
    config: ownMarkdown,
  },
  vite: {
    publicDir: path('site/public'),
    // The worker of the playground loads parts of the package on demand.
    worker: { format: 'es' },
    server: { host: '127.0.0.1', watch: { ignored: ['**/.cache/**'] } },
  },
  themeConfig: {
    logo: '/leaf.svg',
    nav: NAV,
    sidebar: sidebar(path('docs')),
    outline: [2, 3],
    search: {
      provider: 'local',
      options: {
        detailedView: true,
        // Guides first: the reference and the pages about development name everything.
        miniSearch: {
          searchOptions: {
            boostDocument: (id) =>
              /\/(reference|decisions|testing|architecture|format|benchmarks)\b/.test(id)
                ? 0.15
                : 1,
          },
        },
      },
    },
    docFooter: { prev: 'Before', next: 'Next' },
    footer: { message: 'MIT or Apache-2.0, as you like.' },
  },
  buildEnd: ({ outDir }) =>
    writeLlms({ outDir, docs: path('docs'), base: BASE, description: DESCRIPTION }),
});
