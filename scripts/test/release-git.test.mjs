// The conditions for releasing a checkout, and for merging a change.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, beforeEach, test } from 'node:test';
import { gitFaults, unsaidChanges } from '../lib/release-git.mjs';

const DIR = mkdtempSync(join(tmpdir(), 'hedgerow-git-'));
after(() => rmSync(DIR, { recursive: true, force: true }));

const NOBODY = ['-c', 'user.name=nobody', '-c', 'user.email=nobody@example.org'];
const git = (...args) => execFileSync('git', [...NOBODY, ...args], { cwd: DIR, stdio: 'pipe' });
const put = (name, text = name) => {
  mkdirSync(dirname(join(DIR, name)), { recursive: true });
  writeFileSync(join(DIR, name), text);
};
function commit(...names) {
  for (const name of names) put(name);
  git('add', '-A');
  git('commit', '-q', '-m', names.join());
}
const faults = () => gitFaults('v1.0.0', DIR);
const unsaid = () => unsaidChanges('main', DIR);

beforeEach(() => {
  rmSync(DIR, { recursive: true, force: true });
  mkdirSync(DIR);
  git('init', '-q', '-b', 'main');
  commit('README.md');
});

test('a tagged commit of main without changes may be released', () => {
  assert.deepEqual(faults(), ['the commit has no tag v1.0.0']);
  git('tag', 'v1.0.0');
  assert.deepEqual(faults(), []);
  git('checkout', '-q', '--detach'); // as CI has it
  assert.deepEqual(faults(), []);
  put('README.md', 'changed');
  put('new.md');
  assert.deepEqual(faults(), ['2 files are not committed']);
});

test('a commit that is not on main, or after the tag, may not', () => {
  git('tag', 'v1.0.0');
  git('checkout', '-q', '-b', 'other');
  assert.deepEqual(faults(), []); // the commit counts
  commit('a.md');
  assert.deepEqual(faults(), ['the commit is not on main', 'the commit has no tag v1.0.0']);
});

test('without git no version is released', () => {
  rmSync(join(DIR, '.git'), { recursive: true });
  // Above it there is no checkout either.
  assert.deepEqual(faults(), ['this is no checkout of git']);
});

test('a change of the package without a note for users is named', () => {
  git('checkout', '-q', '-b', 'change');
  assert.deepEqual(unsaid(), []);
  commit('docs/a.md', 'js/hedgerow/test/a.test.ts', 'scripts/a.mjs', 'crate/tests/a.rs');
  assert.deepEqual(unsaid(), []);
  commit('js/hedgerow/src/a.ts', 'crate/trees/src/a.rs');
  put('js/hedgerow/src/b.ts'); // not even added
  assert.deepEqual(unsaid(), [
    'crate/trees/src/a.rs',
    'js/hedgerow/src/a.ts',
    'js/hedgerow/src/b.ts',
  ]);
  put('.changeset/README.md');
  assert.equal(unsaid().length, 3);
  put('.changeset/a-line.md');
  assert.deepEqual(unsaid(), []);
});

test('a line in the changelog is enough, and changes of main do not count for a branch', () => {
  git('checkout', '-q', '-b', 'change');
  commit('js/hedgerow/src/a.ts', 'CHANGELOG.md');
  assert.deepEqual(unsaid(), []);
  git('checkout', '-q', 'main');
  commit('js/hedgerow/src/main.ts');
  git('checkout', '-q', '-b', 'later', 'HEAD~1');
  assert.deepEqual(unsaid(), []);
  assert.throws(() => unsaidChanges('nowhere', DIR), /no common commit with nowhere/);
});
