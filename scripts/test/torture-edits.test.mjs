// What the torture of syncs takes for a lost edit, and for one that is there twice.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Edits } from '../../e2e/torture/lib/sync/edits.mjs';

/** Edits of one key by two devices, each with the one that it has replaced; all acknowledged but those in `open`. */
function made(all, open = []) {
  const edits = new Edits();
  for (const [id, before, isDeletion] of all) {
    edits.begun(id, { key: 'k', before, isDeletion, by: id.split(' ')[0] });
    if (!open.includes(id)) edits.acknowledged(id);
  }
  return edits;
}

test('an edit is there, was replaced by one that is, or is lost', () => {
  const edits = made([['page 1'], ['page 2', 'page 1'], ['page 3', 'page 2']]);
  assert.deepEqual(edits.lost([['k', 'page 3']], 'page'), []);
  assert.deepEqual(edits.lost([['k', 'page 2']], 'page'), ['page 3']);
  assert.deepEqual(edits.lost([], 'page'), ['page 3']);
  assert.deepEqual(edits.lost([]), ['page 3']);
});

test('one that was replaced elsewhere must be there until that has come', () => {
  const edits = made([['page 1'], ['other 1', 'page 1'], ['other 2', 'other 1']]);
  assert.deepEqual(edits.lost([['k', 'page 1']], 'page'), []);
  assert.deepEqual(edits.lost([['k', 'other 2']], 'page'), []);
  assert.deepEqual(edits.lost([], 'page'), ['page 1']);
  assert.deepEqual(edits.lost([['k', 'page 1']]), ['other 2']);
});

test('what nobody has acknowledged may be there or not, and replaces nothing unless it is', () => {
  const edits = made([['page 1'], ['page 2', 'page 1'], ['page 3', 'page 2', true]], ['page 3']);
  assert.deepEqual(edits.lost([['k', 'page 2']], 'page'), []);
  // The deletion was committed, and its acknowledgement killed.
  assert.deepEqual(edits.lost([], 'page'), []);
  assert.deepEqual(edits.lost([['k', 'page 1']], 'page'), ['page 2']);
});

test('one that was deleted elsewhere is not lost when something else is put there', () => {
  const edits = made([['page 1'], ['other 1', 'page 1', true], ['page 2']]);
  assert.deepEqual(edits.lost([['k', 'page 2']], 'page'), []);
  assert.deepEqual(edits.lost([['k', 'page 2']]), []);
  // What was put before the deletion has not seen it.
  const early = made([['page 1'], ['page 2'], ['other 1', 'page 1', true]]);
  assert.deepEqual(early.lost([['k', 'page 2']], 'page'), ['page 1']);
  assert.equal(
    edits.storyOf('page 1'),
    'page 1 of k (page 1; other 1 deletes after page 1; page 2)',
  );
});

test('a log of conflicts has what lost, and tells of none between an edit and what it has seen', () => {
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
