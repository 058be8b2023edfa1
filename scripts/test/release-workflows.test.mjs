// The workflows of CI call only existing things.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { workflowFaults, workflows } from '../lib/release-workflows.mjs';
import { ROOT } from '../lib/run.mjs';

const MANIFEST = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const ALL = workflows();
const faults = (text) => workflowFaults(text, MANIFEST);

test('the workflows are well-formed, and call only existing things', () => {
  assert.deepEqual([...ALL.keys()].sort(), ['deep.yml', 'machine.yml', 'release.yml', 'test.yml']);
  for (const [name, text] of ALL) assert.deepEqual(faults(text), [], name);
});

test('each push runs the everyday checks, each night all, and a release waits for all', () => {
  const machine = ALL.get('machine.yml');
  assert.match(machine, /- if: inputs\.shard == 0\n {8}run: \.ci\/run$/m);
  assert.match(readFileSync(join(ROOT, '.ci', 'run'), 'utf8'), /^exec npm test$/m);
  const [, shards] = /run: npm run test:deep -- --shard "\$SHARD\/(\d)"$/m.exec(machine);
  assert.match(
    ALL.get('test.yml'),
    /^ {2}push:\n[\s\S]*uses: \.\/\.github\/workflows\/machine\.yml$/m,
  );
  const deep = ALL.get('deep.yml');
  const all = Array.from({ length: Number(shards) }, (_, at) => at + 1).join(', ');
  assert.ok(deep.includes(`shard: [${all}]`));
  assert.match(deep, /^ {2}schedule:\n[\s\S]*uses: \.\/\.github\/workflows\/machine\.yml$/m);
  assert.match(ALL.get('release.yml'), /uses: \.\/\.github\/workflows\/deep\.yml/);
});

test('a planted fault of each kind is found', () => {
  const test = ALL.get('test.yml');
  const machine = ALL.get('machine.yml');
  const release = ALL.get('release.yml');
  const planted = [
    [machine, '.ci/run', '.ci/runs', /\.ci\/runs does not exist/],
    [machine, '.ci/run', './package.json', /is no program/],
    [test, 'npm ci', 'npm run ci2', /no such script/],
    [test, '--changed', '--change', /release: Unknown option/],
    [machine, '.ci/run', 'npm test -- --only nothing', /no such step/],
    [machine, '.ci/run', 'node scripts/nothing.mjs', /scripts\/nothing\.mjs does not exist/],
    [machine, '"$SHARD/4"', '"$SHARD"', /test:deep: --shard takes one part of several/],
    [test, 'actions/checkout@v4', 'actions/checkout@main', /is not pinned/],
    [
      test,
      '"origin/$BASE"',
      `"origin/$${'{{ github.base_ref }}'}"`,
      /an expression is put into a command/,
    ],
    [test, 'permissions:\n  contents: read\n', '', /may do more than read/],
    [machine, 'timeout-minutes: 120', 'timeout-minutes: 0', /may run for ever/],
    [test, 'jobs:\n', 'jobs:\n  - ', /./],
    [release, 'needs: test', 'needs: nobody', /nobody, which is no job/],
    [release, 'needs: test', 'timeout-minutes: 5', /untested|unique/],
    [release, 'contents: write', 'packages: write', /packages may not be written by the job notes/],
    [release, 'github.token', 'secrets.NPM_TOKEN', /it needs a secret/],
    [release, 'workflows/deep.yml', 'workflows/deeper.yml', /deeper\.yml does not exist/],
    [release, 'name: release', 'name: [release', /./],
  ];
  for (const [text, from, to, expected] of planted) {
    assert.ok(text.includes(from), from);
    const found = faults(text.replace(from, to));
    assert.match(found.join('\n'), expected, `${from} -> ${to}`);
  }
});

test('only the job that publishes has an identity, and it keeps no secret', () => {
  const release = ALL.get('release.yml');
  assert.equal(release.match(/id-token: write/g).length, 1);
  const moved = release
    .replace('  notes:\n', '  notes2:\n')
    .replace('contents: write', 'id-token: write');
  assert.match(faults(moved).join('\n'), /id-token may not be written by the job notes2/);
});
