// The page on the architecture names files that exist: in the row of a room of the store, files of that room.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Files } from '../checks/files.mjs';
import { ROOT } from '../lib/run.mjs';

const FILE = /`((?:[\w.-]+\/)*[\w.-]+\.(?:ts|rs|mjs))`/g;

test('each file that the page names exists, and lies in the room of its row', () => {
  const files = Files.ofCheckout().names;
  const page = readFileSync(join(ROOT, 'docs', 'architecture.md'), 'utf8');
  let count = 0;
  for (const line of page.split('\n')) {
    const room = /^\|[^|]*\| `([\w-]+\/(?:[\w-]+\/)?)` \|/.exec(line)?.[1];
    for (const [, name] of line.matchAll(FILE)) {
      const isOfRoom = room !== undefined && !/^(?:crate|js|scripts)\//.test(name);
      const start = isOfRoom ? `js/hedgerow/src/${room}` : '';
      const isThere = (file) => file.startsWith(start) && `/${file}`.endsWith(`/${name}`);
      assert.ok(files.some(isThere), `${start || 'the repository'} has no ${name}`);
      count += 1;
    }
  }
  assert.ok(count > 20);
});
