// Orders the pages. A missing page is left out.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const NAV = [
  { text: 'Start', link: '/quick-start' },
  { text: 'Guides', link: '/keys', activeMatch: '^/(keys|tables|indexes|live|editing)' },
  { text: 'Errors', link: '/errors/' },
  { text: 'API', link: '/api', activeMatch: '^/(api|reference/(?!changelog))' },
  { text: 'Comparison', link: '/comparison' },
  { text: 'Playground', link: '/playground' },
  { text: 'Changes', link: '/reference/changelog' },
];

/** Guides in the order of an app's life, then how it works, then pages to look things up. */
const SECTIONS = [
  [
    'Start',
    [
      ['Quick start', 'quick-start'],
      ['Tour', 'tour'],
      ['Playground', 'playground'],
      ['Comparison', 'comparison'],
      ['Promises', 'promises'],
      ['Limits', 'limits'],
      ['Coming from elsewhere', 'coming-from'],
    ],
  ],
  [
    'Rows',
    [
      ['Keys', 'keys'],
      ['Tables', 'tables'],
      ['Indexes', 'indexes'],
      ['Values', 'values'],
      ['First load', 'bulk-load'],
      ['Edits and transactions', 'editing'],
      ['Migrations', 'migrations'],
    ],
  ],
  [
    'On the screen',
    [
      ['Lists', 'lists'],
      ['Live queries', 'live'],
      ['React, Vue, Svelte, Solid, Angular', 'frameworks'],
      ['Drafts and undo', 'drafts'],
    ],
  ],
  [
    'In the browser',
    [
      ['Offline and several tabs', 'tabs'],
      ['Workers', 'workers'],
      ['Service workers', 'service-workers'],
      ['Health of storage', 'health'],
      ['Backup and restore', 'backup'],
      ['Encryption at rest', 'encryption'],
      ['Browsers', 'browsers'],
      ['Toolchains', 'toolchains'],
      ['React Native and Node', 'react-native'],
    ],
  ],
  [
    'Servers and devices',
    [
      ['Which kind of sync', 'which-sync'],
      ['REST', 'rest'],
      ['Mutators', 'mutators'],
      ['Sync', 'sync'],
      ['Through a bucket', 'bucket'],
      ['Lazy clones', 'lazy'],
    ],
  ],
  [
    'Beside other libraries',
    [
      ['Adapters', 'adapters'],
      ['TanStack DB', 'tanstack-db'],
      ['Testing an app', 'testing-an-app'],
      ['The inspector', 'inspector'],
    ],
  ],
  [
    'How it works',
    [
      ['Why a page freezes', 'why-a-page-freezes'],
      ['A tree and its root', 'trees'],
      ['A merge', 'merges'],
      ['Sum trees and proofs', 'sum-tree'],
      ['Responsiveness', 'responsiveness'],
      ['Reliability', 'reliability'],
      ['Benchmarks', 'benchmarks'],
      ['Benchmark in your browser', 'benchmark'],
      ['Architecture', 'architecture'],
      ['Format', 'format'],
      ['Decisions', 'decisions'],
      ['How it is tested', 'testing'],
      ['Releases', 'releases'],
      ['Upgrading', 'upgrading'],
    ],
  ],
  [
    'To look up',
    [
      ['API by subject', 'api'],
      ['API by entry', 'reference/'],
      ['Errors', 'errors/'],
      ['Glossary', 'glossary'],
      ['Changelog', 'reference/changelog'],
    ],
  ],
];

const fileOf = (link) => `${link.endsWith('/') ? `${link}index` : link}.md`;

/** Returns the import path that a page of the reference has as its title. */
const entryOf = (page) => /^# `([^`]+)`$/m.exec(readFileSync(page, 'utf8'))[1];

/** Returns the sidebar of each part of the site. */
export function sidebar(docs) {
  const pages = (folder) =>
    existsSync(join(docs, folder))
      ? readdirSync(join(docs, folder))
          .filter((name) => name.endsWith('.md') && name !== 'index.md')
          .map((name) => name.slice(0, -'.md'.length))
          .sort()
      : [];
  const all = SECTIONS.map(([text, items]) => ({
    text,
    collapsed: false,
    items: items
      .filter(([, link]) => existsSync(join(docs, fileOf(link))))
      .map(([name, link]) => ({ text: name, link: `/${link}` })),
  }));
  const errors = {
    text: 'Errors',
    link: '/errors/',
    items: pages('errors').map((code) => ({ text: code, link: `/errors/${code}` })),
  };
  const entries = {
    text: 'API by entry',
    link: '/reference/',
    items: pages('reference')
      .filter((name) => name !== 'changelog')
      .map((name) => ({
        text: entryOf(join(docs, 'reference', `${name}.md`)),
        link: `/reference/${name}`,
      })),
  };
  return {
    '/reference/changelog': all,
    '/errors/': [errors],
    '/reference/': [{ text: 'API by subject', link: '/api' }, entries],
    '/': all,
  };
}
