// The version of a release: changesets and lines by hand come into one changelog.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, describe, test } from 'node:test';
import { KINDS, listed, notesOf, readChangelog, withVersion } from '../lib/release-changelog.mjs';
import { readChangeset, readChangesets } from '../lib/release-changesets.mjs';
import { copyForVersion, makeVersion, standing } from '../lib/release-version.mjs';
import { ROOT } from '../lib/run.mjs';

const INTRO = '# Changelog\n\nAll of it.\n\n';
const OWN = `${INTRO}## Unreleased

### Fixed

- One
  in two lines.
- Two.

### Added

- Three.

## 1.0.0 - 2030-01-01

### Added

- All.
`;

describe('the changelog', () => {
  test('of the repository can be read, and keeps every line when a version is made', () => {
    const text = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8');
    const { sections } = readChangelog(text);
    assert.equal(sections[0].title, 'Unreleased');
    const lines = (one) => one.split('\n').filter((line) => line !== '' && !line.startsWith('##'));
    const made = withVersion(text, {
      version: '99.0.0',
      date: '2030-12-31',
      entries: [{ kind: 'Added', text: 'a line of a changeset' }],
    });
    assert.deepEqual(lines(made).sort(), [...lines(text), '- a line of a changeset'].sort());
  });

  test('a version has the unreleased lines, then the lines of changesets, in the order of kinds', () => {
    const entries = [
      { kind: 'Fixed', text: 'Four.' },
      { kind: 'Security', text: 'Five.' },
    ];
    const made = withVersion(OWN, { version: '1.1.0', date: '2030-02-01', entries });
    assert.equal(
      made,
      `${INTRO}## Unreleased

## 1.1.0 - 2030-02-01

### Added

- Three.

### Fixed

- One
  in two lines.
- Two.
- Four.

### Security

- Five.

## 1.0.0 - 2030-01-01

### Added

- All.
`,
    );
    assert.equal(notesOf(made, '1.0.0'), '### Added\n\n- All.\n');
    assert.throws(() => notesOf(made, '2.0.0'), /it has no 2\.0\.0/);
    const again = () => withVersion(made, { version: '1.2.0', date: '2030-02-01' });
    assert.throws(again, /nothing is under Unreleased/);
    const twice = () => withVersion(OWN, { version: '1.0.0', date: '2030-02-01' });
    assert.throws(twice, /it has 1\.0\.0 already/);
  });

  test('a malformed changelog is refused', () => {
    const refused = (from, to, why) => {
      assert.ok(OWN.includes(from));
      assert.throws(() => readChangelog(OWN.replace(from, to)), why);
    };
    refused('### Fixed', '### Mended', /Mended under Unreleased is none of/);
    refused('### Added', '### Fixed', /two parts Fixed/);
    refused('## Unreleased\n', '', /the first section is not Unreleased|\[Unreleased\]|first/);
    refused('1.0.0 - 2030-01-01', '1.0.0', /neither Unreleased nor/);
    refused('- Three.', 'Three.', /has no list/);
    refused('## Unreleased\n', '## Unreleased\n\nHello.\n', /before the first kind/);
  });

  test('long lines are broken as the others are', () => {
    const line = listed(`${'word '.repeat(40)}end`);
    assert.ok(line.split('\n').every((one) => one.length <= 120));
    assert.match(line, /^- word [^\n]+\n {2}word/);
    assert.equal(line.replaceAll(/\n? +/g, ' '), `- ${'word '.repeat(40)}end`);
  });
});

describe('a changeset', () => {
  const read = (text) => readChangeset('a.md', text);

  test('says how much it raises the version, and its lines by kind', async () => {
    const text = "---\n'hedgerow': minor\n---\n\nAdded: one\nthing.\n\nFixed: another: thing.\n";
    assert.deepEqual(await read(text), {
      name: 'a.md',
      bump: 'minor',
      entries: [
        { kind: 'Added', text: 'one\nthing.' },
        { kind: 'Fixed', text: 'another: thing.' },
      ],
    });
    assert.deepEqual(await read(text.replaceAll('\n', '\r\n')), await read(text));
    assert.deepEqual((await read('---\nhedgerow: patch\n---\n')).entries, []);
    assert.equal((await read('---\n---\n')).bump, undefined);
  });

  test('is refused by name if it is malformed', async () => {
    const refused = (text, why) => assert.rejects(read(text), why);
    await refused('Added: a line.\n', /\.changeset\/a\.md: no front matter/);
    await refused('---\nhedgerow-site: minor\n---\n', /hedgerow-site is not published/);
    await refused('---\nhedgerow: large\n---\n', /large is none of patch, minor, major/);
    await refused('---\nhedgerow: minor\n---\nA line.\n', /begins with none of Added:/);
    await refused('---\n---\nAdded: a line.\n', /raises no version/);
  });

  test('of the repository can be read', async () => {
    assert.ok(Array.isArray(await readChangesets(ROOT)));
    const readme = readFileSync(join(ROOT, '.changeset', 'README.md'), 'utf8');
    for (const kind of KINDS) assert.ok(readme.includes(`\`${kind}:\``), kind);
    const example = /```md\n([\s\S]*?)```/.exec(readme)[1];
    assert.equal((await read(example)).entries.length, 1);
  });
});

describe('making a version', () => {
  const dir = mkdtempSync(join(tmpdir(), 'hedgerow-version-'));
  after(() => rmSync(dir, { recursive: true, force: true }));
  const json = (...path) => JSON.parse(readFileSync(join(dir, ...path), 'utf8'));
  const put = (name, text) => writeFileSync(join(dir, name), text);
  const now = () => json('js', 'hedgerow', 'package.json').version;

  /** Makes a repository with this changelog and these changesets. */
  async function begin(changelog, changesets = {}) {
    await copyForVersion(dir);
    for (const name of readdirSync(join(dir, '.changeset')))
      if (/^(?!README).*\.md$/.test(name)) rmSync(join(dir, '.changeset', name));
    put('CHANGELOG.md', changelog);
    for (const [name, text] of Object.entries(changesets)) put(join('.changeset', name), text);
  }

  let version;
  beforeEach(async () => {
    await begin(OWN);
    version = now();
  });
  const released = () => OWN.replace('1.0.0 - ', `${version} - `);
  const [minor, patch] = ['minor', 'patch'].map((bump) => `---\nhedgerow: ${bump}\n---\n`);

  test('an unreleased version is the next one unchanged', async () => {
    await begin(OWN, { 'a.md': `${minor}\nAdded: Four.\n` });
    assert.equal(await makeVersion(dir, '2030-05-06'), version);
    const text = readFileSync(join(dir, 'CHANGELOG.md'), 'utf8');
    assert.match(text, new RegExp(`^## ${version} - 2030-05-06$`, 'm'));
    assert.match(text, /^- Four\.$/m);
    assert.deepEqual((await standing(dir)).changesets, []);
  });

  test('changesets raise a released one, in all packages that name it and in the lock file', async () => {
    await begin(released(), {
      'a.md': patch,
      'b.md': `${minor}\nAdded: Four.\n`,
      'c.md': '---\n---\n',
    });
    const [major, middle] = version.split('.').map(Number);
    const next = `${major}.${middle + 1}.0`;
    assert.equal(await makeVersion(dir, '2030-05-06'), next);
    assert.equal(now(), next);
    const { packages } = json('package-lock.json');
    assert.equal(packages['js/hedgerow'].version, next);
    assert.equal(packages.demo.dependencies.hedgerow, next);
    assert.equal(json('demo', 'package.json').dependencies.hedgerow, next);
    assert.equal(json('demo', 'package.json').version, '0.0.0');
    assert.deepEqual(readdirSync(join(dir, '.changeset')).sort(), ['README.md', 'config.json']);
    assert.deepEqual(readdirSync(join(dir, 'js', 'hedgerow')), ['package.json']); // no second changelog
    const { isPending, isReleased } = await standing(dir);
    assert.deepEqual({ isPending, isReleased }, { isPending: false, isReleased: true });
    await assert.rejects(makeVersion(dir), /nothing has changed since/);
  });

  test('lines of a released version that no changeset raises are refused, and no file is changed', async () => {
    await begin(released(), { 'c.md': '---\n---\n' });
    assert.equal((await standing(dir)).isMakeable, false);
    await assert.rejects(makeVersion(dir), /no changeset says how much they raise/);
    assert.equal(readFileSync(join(dir, 'CHANGELOG.md'), 'utf8'), released());
    assert.deepEqual(readdirSync(join(dir, '.changeset')).sort(), [
      'README.md',
      'c.md',
      'config.json',
    ]);
  });
});
