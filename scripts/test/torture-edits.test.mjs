// The edits that the torture of syncs counts as lost, or as doubled.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Edits } from '../../e2e/torture/lib/sync/edits.mjs';

/** Makes edits of one key by two devices, each with the one that it has replaced; all acknowledged except `open`. */
function made(all, open = []) {
  const edits = new Edits();
  for (const [id, before, isDeletion] of all) {
    edits.begun(id, { key: 'k', before, isDeletion, by: id.split(' ')[0] });
    if (!open.includes(id)) edits.acknowledged(id);
  }
  return edits;
}

test('an edit is there, was replaced by one that is there, or is lost', () => {
  const edits = made([['page 1'], ['page 2', 'page 1'], ['page 3', 'page 2']]);
  assert.deepEqual(edits.lost([['k', 'page 3']], 'page'), []);
  assert.deepEqual(edits.lost([['k', 'page 2']], 'page'), ['page 3']);
  assert.deepEqual(edits.lost([], 'page'), ['page 3']);
  assert.deepEqual(edits.lost([]), ['page 3']);
});

test('an edit that was replaced elsewhere must stay until the replacement has come', () => {
  const edits = made([['page 1'], ['other 1', 'page 1'], ['other 2', 'other 1']]);
  assert.deepEqual(edits.lost([['k', 'page 1']], 'page'), []);
  assert.deepEqual(edits.lost([['k', 'other 2']], 'page'), []);
  assert.deepEqual(edits.lost([], 'page'), ['page 1']);
  assert.deepEqual(edits.lost([['k', 'page 1']]), ['other 2']);
});

test('an unacknowledged edit may be there or not, and replaces no other unless it is there', () => {
  const edits = made([['page 1'], ['page 2', 'page 1'], ['page 3', 'page 2', true]], ['page 3']);
  assert.deepEqual(edits.lost([['k', 'page 2']], 'page'), []);
  // The deletion was committed, and its acknowledgement killed.
  assert.deepEqual(edits.lost([], 'page'), []);
  assert.deepEqual(edits.lost([['k', 'page 1']], 'page'), ['page 2']);
});

test('an edit that was deleted elsewhere is not lost when another one is put there', () => {
  const edits = made([['page 1'], ['other 1', 'page 1', true], ['page 2']]);
  assert.deepEqual(edits.lost([['k', 'page 2']], 'page'), []);
  assert.deepEqual(edits.lost([['k', 'page 2']]), []);
  // An edit put before the deletion has not seen it.
  const early = made([['page 1'], ['page 2'], ['other 1', 'page 1', true]]);
  assert.deepEqual(early.lost([['k', 'page 2']], 'page'), ['page 1']);
  assert.equal(
    edits.storyOf('page 1'),
    'page 1 of k (page 1; other 1 deletes after page 1; page 2)',
  );
});

test('a log of conflicts has the loser, and no conflict between an edit and one that it has seen', () => {
  const edits = made([
    ['page 1'],
    ['page 2', 'page 1'],
    ['other 1', 'page 1'],
    ['page 3', 'page 2'],
  ]);
  edits.told([['page 3', 'other 1']]);
  assert.deepEqual(edits.lost([['k', 'page 3']]), []);
  assert.deepEqual(edits.doubled([['k', 'page 3']]), []);
  edits.told([['page 3', 'page 1']]);
  assert.deepEqual(edits.doubled([['k', 'page 3']]), [
    'page 3 and page 1 are no conflict: one has seen the other',
  ]);
});

test('an edit that was replaced does not come back', () => {
  const edits = made([['page 1'], ['page 2', 'page 1']]);
  assert.deepEqual(edits.doubled([['k', 'page 2']]), []);
  assert.deepEqual(edits.doubled([['k', 'page 1']]), ['page 1 stands at k, and was replaced']);
});
