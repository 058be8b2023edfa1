/** The examples of guides do what they are shown for: each page runs from its first block to its last one. */
import 'fake-indexeddb/auto';
import { IDBFactory } from 'fake-indexeddb';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { blocksOf, runBlocks } from './page-examples.js';

const nothing = () => {};
async function* pages() {
  yield { id: '1', title: 'Fix the gate' };
}

const button = {};

/** Pages, with what they leave out, and what a browser has. */
const PAGES: Record<string, Record<string, unknown>> = {
  '../js/README': {},
  index: {},
  keys: {},
  tables: { from: 0, to: 1 },
  indexes: { now: Date.now() },
  values: { input: { files: [new Blob(['gate'])] }, image: {}, seal: String, unseal: String },
  'bulk-load': { show: nothing, stopButton: button, pages },
  editing: { title: 'Fix the gate', id: '4711' },
  migrations: { show: nothing, askForReload: nothing },
  live: { render: nothing },
  lists: { render: nothing, showCount: nothing, location: {} },
  drafts: { showReview: nothing, ask: async () => true },
  tabs: { addEventListener: nothing, document: { querySelector: () => button } },
  'service-workers': { navigator: { serviceWorker: { register: nothing, controller: {} } } },
  backup: { input: {}, show: nothing },
  trees: {},
  merges: {},
};

/** A server that keeps what is put there. */
function server(): typeof fetch {
  const issue = { id: '4711', title: 'Fix the gate', status: 'open', modified: 1 };
  const kept = new Map<string, BodyInit>([
    ['/issues.ndjson', `${JSON.stringify(issue)}\n`],
    ['/everything.ndjson', `${JSON.stringify({ op: 'put', key: 'issues/4711', value: issue })}\n`],
  ]);
  return async (input, { body } = {}) => {
    if (body) kept.set(String(input), body);
    return new Response(kept.get(String(input)));
  };
}

beforeEach(() => {
  vi.stubGlobal('indexedDB', new IDBFactory());
  vi.stubGlobal('fetch', server());
});

afterEach(() => {
  vi.unstubAllGlobals();
});

it.each(Object.keys(PAGES))('%s', async (page) => {
  const blocks = blocksOf(page);
  expect(blocks.length).toBeGreaterThan(0);
  await runBlocks(blocks, PAGES[page]);
});
