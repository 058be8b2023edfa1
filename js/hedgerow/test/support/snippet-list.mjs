/**
 * The code blocks of the README files and of `docs/`: `guide-examples.test.ts` and `error-examples.test.ts` run all of
 * them except the blocks listed here. `node scripts/check-snippets.mjs` counts them.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PUBLISHED } from '../../../../scripts/lib/published.mjs';

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));

/** Run by `scripts/long/newcomer.mjs`, in apps of their own. */
const FOLLOWED = 'scripts/long/newcomer.mjs runs it';
const COMPONENT = 'in a component: examples/frameworks has such, in Chromium';
const IN_BROWSER = 'needs a browser';
const IN_WORKER = 'needs a worker of a browser: e2e/tests has such';
const FRAGMENT = 'a member of an object, for itself';
const CONFIGURATION = 'the configuration of a tool';

/** The blocks that no test in Node runs: the page, the text with which the block begins, the reason. */
const LISTED = [
  ['docs/quick-start.md', "// src/App.tsx\nimport { useLive } from 'hedgerow/react'", FOLLOWED],
  ['docs/quick-start.md', "// src/App.tsx\nimport { useLive } from 'hedgerow/solid'", FOLLOWED],
  ['docs/quick-start.md', '<!-- src/App.vue -->', FOLLOWED],
  ['docs/quick-start.md', '<!-- src/App.svelte -->', FOLLOWED],
  ['docs/quick-start.md', '// src/main.ts', FOLLOWED],
  ['docs/quick-start.md', '// src/app/app.ts', COMPONENT],
  ['docs/editing.md', 'import { useEffect, useState }', COMPONENT],
  ['docs/frameworks.md', 'import { useLive, useLiveCount, useLiveRow }', COMPONENT],
  [
    'docs/frameworks.md',
    "import { live, type Live, type LiveQuery } from 'hedgerow';\nimport { useEffect",
    COMPONENT,
  ],
  ['docs/frameworks.md', "import { useLive } from 'hedgerow/react';", COMPONENT],
  [
    'docs/frameworks.md',
    "import { live, type Live, type LiveQuery, type LiveState } from 'hedgerow';\nimport { onScopeDispose",
    COMPONENT,
  ],
  ['docs/frameworks.md', '<script setup lang="ts">', COMPONENT],
  ['docs/frameworks.md', '<template>', COMPONENT],
  ['docs/frameworks.md', "import { live } from 'hedgerow';\nconst empty", COMPONENT],
  ['docs/frameworks.md', "<script>\nimport { useLive } from 'hedgerow/svelte'", COMPONENT],
  ['docs/frameworks.md', '{#each list.rows', COMPONENT],
  [
    'docs/frameworks.md',
    "import { live, type Live, type LiveQuery, type LiveState } from 'hedgerow';\nimport { createEffect",
    COMPONENT,
  ],
  ['docs/frameworks.md', "import { useLive } from 'hedgerow/solid';", COMPONENT],
  ['docs/frameworks.md', '<For each={list.rows}>', COMPONENT],
  ['docs/frameworks.md', 'import { DestroyRef', COMPONENT],
  ['docs/frameworks.md', "import { injectLive } from 'hedgerow/angular';", COMPONENT],
  ['docs/frameworks.md', 'import { useState }', COMPONENT],
  ['docs/frameworks.md', 'import { useLiveSuspense }', COMPONENT],
  ['docs/frameworks.md', 'import { useConnection }', COMPONENT],
  ['docs/frameworks.md', "import { useEffect } from 'react';", COMPONENT],
  ['docs/inspector.md', '// inspect.js, a module', IN_BROWSER],
  ['docs/inspector.md', '// In the app: in production', IN_BROWSER],
  ['docs/inspector.md', '// In the app, for each store', IN_BROWSER],
  ['docs/migrations.md', 'migrate(row, from)', FRAGMENT],
  ['docs/service-workers.md', '// workbox-config.js', CONFIGURATION],
  ['docs/service-workers.md', '// sw.js', IN_WORKER],
  ['docs/testing-an-app.md', 'import { expect as see', IN_BROWSER],
  ['docs/toolchains.md', 'export default {', CONFIGURATION],
  ['docs/toolchains.md', 'import { TestEnvironment }', CONFIGURATION],
  ['docs/workers.md', '// store.worker.ts', IN_WORKER],
  ['docs/workers.md', '// The page', IN_WORKER],
  ['docs/workers.md', '// sw.ts', IN_WORKER],
  ['docs/workers.md', 'import { connect }', IN_WORKER],
];

const LANGUAGES = ['ts', 'tsx', 'js', 'jsx', 'vue', 'svelte'];
const BLOCK = /^( *)```(\w+)\n([\s\S]*?)^ *```$/gm;
/** The headings of pages of errors that begin the section of a detail. */
const DETAIL = /^## `([a-z-]+)`$/gm;

const within = (folder) =>
  readdirSync(posix.join(ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => posix.join(folder, name));

/** The pages of this repository that have code, as paths from its root. */
export function pages() {
  const own = PUBLISHED.map((folder) => `js/${folder}/README.md`);
  const all = ['README.md', ...own, ...within('docs'), ...within('docs/errors')];
  return all.filter((page) => blocksOf(page).length > 0);
}

/**
 * Returns the code blocks of a page in order; `why` is the reason if no test in Node runs a block. Blocks within a list
 * are fragments, and `isCompiled` excludes them. On the page of an error, `detail` is the section.
 */
export function blocksOf(page) {
  const text = readFileSync(posix.join(ROOT, page), 'utf8');
  return [...text.matchAll(BLOCK)]
    .filter(([, , language]) => LANGUAGES.includes(language))
    .map(({ index, 1: indent, 2: language, 3: indented }) => {
      const code = indented.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
      const listed = LISTED.find(([of, start]) => of === page && code.startsWith(start));
      const isCompiled = indent === '' && (language === 'ts' || language === 'tsx');
      const detail = [...text.slice(0, index).matchAll(DETAIL)].at(-1)?.[1];
      return { language, code, isCompiled, why: listed?.[2], detail };
    });
}

/** Returns the listed blocks that do not match exactly one block of their page: the page was changed. */
export function staleEntries() {
  return LISTED.filter(
    ([page, start]) => blocksOf(page).filter(({ code }) => code.startsWith(start)).length !== 1,
  ).map(([page, start]) => `${page}: ${start}`);
}

/** Returns whether a reason means that a script runs it. */
export const isFollowed = (why) => why === FOLLOWED;
