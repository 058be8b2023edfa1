// Writes `vectors/remote/objects.json`: objects of a remote with what they say, and objects that must be refused.
// `node scripts/remote-vectors.mjs > vectors/remote/objects.json`

import { createHash } from 'node:crypto';
import { pathToFileURL } from 'node:url';
import * as make from './lib/remote-objects.mjs';

const { hexOf } = make;
/** Bytes that look random, by a name. */
const bytesOf = (name, length) =>
  createHash('shake256', { outputLength: length }).update(name).digest('hex');
const id = (name) => bytesOf(name, 16);
const hash = (name) => bytesOf(name, 32);
const rows = (name, count = 7) => ({ root: hash(name), count });
const ZERO = '00'.repeat(32);
const NO_ROWS = { root: ZERO, count: 0 };
const flipped = (bytes, at, mask = 1) =>
  bytes.map((byte, nth) => (nth === at ? byte ^ mask : byte));

const inline = (seq, delta = '010203') => ({
  ...{ seq, nonce: id(`nonce ${seq}`), after: rows(`rows ${seq}`, seq), delta },
});
const byName = (seq, length = 5000) => {
  const { delta, ...rest } = inline(seq);
  return { ...rest, name: hash(`delta ${seq}`), length };
};
const pack = (name, length = 4000, edits = 3) => ({ name: hash(name), length, edits });
const logOf = (seq, entries) => ({
  ...{ name: hash(`log ${seq}`), length: 900, seq, entries, deltaBytes: 10 * entries },
});

const FIRST = {
  ...{ nonce: id('nonce 1'), repository: id('repository'), seq: 1, writer: id('writer') },
  ...{ previous: ZERO, app: 0, flags: 0, rows: NO_ROWS, checkpoint: { seq: 0, generations: [] } },
  ...{ logs: [], base: NO_ROWS, tail: [], retired: [], sums: [] },
};

/** Two generations of packs, two logs, a tail that goes through the checkpoint, retired objects and sums. */
const FULL = {
  ...FIRST,
  ...{ nonce: id('nonce 40'), seq: 40, previous: hash('head 39'), app: 0xffff_fffe, flags: 1 },
  rows: rows('rows 40', 40),
  checkpoint: {
    seq: 38,
    generations: [
      { seq: 12, rows: rows('rows 12', 12), packs: [pack('a', 16 << 20), pack('b', 1, 1)] },
      { seq: 38, rows: rows('rows 38', 38), packs: [pack('c', 4000, 0xffff_ffff)] },
    ],
  },
  logs: [logOf(20, 8), logOf(29, 3)],
  base: rows('rows 36', 2 ** 53 - 1),
  tail: [inline(37), byName(38), inline(40, bytesOf('edits', 300))],
  retired: [
    { folder: 0, name: hash('x'), seq: 12, stamp: 1_700_000_000 },
    { folder: 1, name: hash('y'), seq: 12, stamp: 0 },
    { folder: 1, name: hash('z'), seq: 40, stamp: 0 },
  ],
  sums: [
    { name: hexOf(Buffer.from('größe')), root: hash('sum 1'), sum: 0 },
    { name: hexOf(Buffer.from('total')), root: hash('sum 2'), sum: 2n ** 64n - 1n },
  ],
};
/** Eight entries, which begin with the branch. */
const EIGHT = {
  ...FIRST,
  ...{ nonce: id('nonce 8'), seq: 8, previous: hash('head 7'), rows: rows('rows 8', 8) },
  tail: Array.from({ length: 8 }, (_, nth) => inline(nth + 1)),
};
const ALONE = {
  ...{ ...FIRST, nonce: id('nonce 1'), rows: rows('rows 1', 1) },
  tail: [inline(1, bytesOf('long', 4096))],
};
const LOG = { salt: id('salt'), base: FULL.base, tail: FULL.tail };
const EDITS = Buffer.from(
  '4844474401390069737375652f3030303030313235087b226964223a317d0001',
  'hex',
);
const STORED = make.edits(make.stored(EDITS), EDITS.length);

const valid = [
  ['repository', 'a repository', make.repository, { id: id('repository'), app: 0 }],
  ['repository', 'of the newest app', make.repository, { id: id('other'), app: 0xffff_ffff }],
  ['head', 'the first one, without rows', make.head, FIRST],
  ['head', 'with every field', make.head, FULL],
  ['head', 'eight entries', make.head, EIGHT],
  ['head', 'one entry of 4 KiB', make.head, ALONE],
  ['log', 'three entries', make.log, LOG],
  ['log', 'one entry of 4 KiB', make.log, { ...LOG, base: NO_ROWS, tail: ALONE.tail }],
  [
    'pack',
    'edits that are stored, in two frames',
    make.pack,
    { salt: id('salt'), frames: [STORED, STORED] },
  ],
  ['delta', 'edits that are stored', make.delta, { salt: id('salt'), body: STORED }],
];

const withHead = (change) => make.head({ ...FULL, ...change });
const tailWith = (nth, change) =>
  withHead({ tail: FULL.tail.map((one, at) => (at === nth ? { ...one, ...change } : one)) });
const logsWith = (nth, change) =>
  withHead({ logs: FULL.logs.map((one, at) => (at === nth ? { ...one, ...change } : one)) });
const retiredWith = (nth, change) =>
  withHead({ retired: FULL.retired.map((one, at) => (at === nth ? { ...one, ...change } : one)) });
const generationWith = (nth, change) => {
  const generations = FULL.checkpoint.generations.map((one, at) =>
    at === nth ? { ...one, ...change } : one,
  );
  return withHead({ checkpoint: { ...FULL.checkpoint, generations } });
};
const logWith = (change) => make.log({ ...LOG, ...change });

const packOf = (...frames) => make.pack({ salt: id('salt'), frames });

/** Name, kind, object, and the mark of the fault; none for a format that is not supported. */
const refused = [
  ...[
    ['repository', make.repository({ id: id('repository'), app: 1 })],
    ['head', make.head(FULL)],
    ['log', make.log(LOG)],
    ['pack', packOf(STORED)],
    ['delta', make.delta({ salt: id('salt'), body: STORED })],
  ].flatMap(([kind, { bytes, marks }]) => [
    ['nothing', kind, { bytes: bytes.slice(0, 0), marks }, 0],
    ['another magic', kind, { bytes: flipped(bytes, 3), marks }, 0],
    ['cut off in its salt', kind, { bytes: bytes.slice(0, 20), marks }, 8],
    ['cut off in its seal', kind, { bytes: bytes.slice(0, 27), marks }, 27],
    ['cut off at its end', kind, { bytes: bytes.slice(0, -1), marks }, bytes.length - 5],
    ['one byte more', kind, { bytes: Uint8Array.from([...bytes, 0]), marks }, bytes.length - 3],
    ['a bit of the salt', kind, { bytes: flipped(bytes, 9), marks }, 'seal'],
    ['a bit of the seal', kind, { bytes: flipped(bytes, bytes.length - 1), marks }, 'seal'],
  ]),
  ['version 0', 'head', withHead({ version: 0 }), 'version'],
  ['version 2', 'head', withHead({ version: 2 }), undefined],
  ['a crypto suite', 'head', withHead({ suite: 1 }), undefined],
  ['reserved bytes', 'head', withHead({ reserved: 256 }), 'reserved'],
  ['no codec', 'repository', make.repository({ id: id('r'), app: 1, codec: 0 }), 'codec'],
  ['codec 2', 'repository', make.repository({ id: id('r'), app: 1, codec: 2 }), undefined],
  ['padding', 'repository', make.repository({ id: id('r'), app: 1, padding: 1 }), 'padding'],
  ['keys', 'repository', make.repository({ id: id('r'), app: 1, keys: 1 }), 'keys'],
  ['behind its end', 'head', withHead({ after: '00' }), 'rest'],
  ['number 0', 'head', withHead({ seq: 0 }), 'seq'],
  ['a number of 54 bits', 'head', withHead({ seq: 2n ** 53n }), 'seq'],
  ['no hash of the one before', 'head', withHead({ previous: ZERO }), 'previous'],
  ['the first, after another', 'head', make.head({ ...FIRST, previous: hash('h') }), 'previous'],
  ['unknown flags', 'head', withHead({ flags: 2 }), 'flags'],
  ['a root without rows', 'head', withHead({ rows: { ...FULL.rows, count: 0 } }), 'rows count'],
  ['rows without a root', 'head', withHead({ rows: { root: ZERO, count: 1 } }), 'rows count'],
  ['rows that no entry leads to', 'head', withHead({ rows: rows('elsewhere') }), 'rows'],
  [
    'a later checkpoint',
    'head',
    withHead({ checkpoint: { ...FULL.checkpoint, seq: 41 } }),
    'checkpoint',
  ],
  [
    'a checkpoint without its generation',
    'head',
    withHead({ checkpoint: { ...FULL.checkpoint, seq: 39 } }),
    'checkpoint',
  ],
  ['generations out of order', 'head', generationWith(0, { seq: 38 }), 'generation 1'],
  ['generation 0', 'head', generationWith(0, { seq: 0 }), 'generation 0'],
  ['a generation without packs', 'head', generationWith(0, { packs: [] }), 'generation 0'],
  ['a generation without rows', 'head', generationWith(0, { rows: NO_ROWS }), 'generation 0'],
  [
    'other rows of the checkpoint',
    'head',
    generationWith(1, { rows: rows('elsewhere') }),
    'checkpoint',
  ],
  [
    'a pack of zeros',
    'head',
    generationWith(1, { packs: [{ ...pack('c'), name: ZERO }] }),
    'pack 2',
  ],
  ['a pack twice', 'head', generationWith(1, { packs: [pack('a')] }), 'pack 2'],
  ['a pack without bytes', 'head', generationWith(1, { packs: [pack('c', 0)] }), 'pack 2'],
  [
    'a pack above 16 MiB',
    'head',
    generationWith(1, { packs: [pack('c', (16 << 20) + 1)] }),
    'pack 2',
  ],
  ['17 logs', 'head', withHead({ logCount: 17 }), 'logs'],
  ['a log of zeros', 'head', logsWith(0, { name: ZERO }), 'log 0'],
  ['a log without bytes', 'head', logsWith(0, { length: 0 }), 'log 0'],
  ['a log above 8 KiB', 'head', logsWith(1, { length: 8193 }), 'log 1'],
  ['a log of number 0', 'head', logsWith(0, { seq: 0 }), 'log 0'],
  [
    'a log with more entries than numbers',
    'head',
    logsWith(0, { entries: 10, deltaBytes: 99 }),
    'log 0',
  ],
  ['a log that reaches into the tail', 'head', logsWith(1, { seq: 35 }), 'log 1'],
  ['a log without entries', 'head', logsWith(1, { entries: 0 }), 'log 1'],
  ['a log without deltas', 'head', logsWith(1, { deltaBytes: 2 }), 'log 1'],
  [
    'more than 64 entries',
    'head',
    make.head({
      ...FULL,
      seq: 90,
      nonce: id('nonce 90'),
      logs: [{ ...logOf(1, 62), deltaBytes: 62 }],
      tail: [inline(88), inline(89), inline(90)],
      rows: rows('rows 90', 90),
    }),
    'log 0',
  ],
  ['deltas of more than 1 MiB', 'head', logsWith(1, { deltaBytes: 1 << 20 }), 'log 1'],
  ['logs without a tail', 'head', make.head({ ...FULL, tail: [] }), 'log 1'],
  ['9 entries', 'head', withHead({ tailCount: 9 }), 'entries'],
  ['entries above 3 KiB', 'head', tailWith(2, { delta: bytesOf('edits', 2900) }), 'base'],
  ['entries out of order', 'head', tailWith(1, { seq: 37 }), 'tail 1'],
  ['an entry of a later head', 'head', tailWith(2, { seq: 41 }), 'tail 2'],
  ['an entry that changes nothing', 'head', tailWith(1, { after: FULL.tail[0].after }), 'tail 1'],
  ['the nonce of another head', 'head', tailWith(2, { nonce: id('x') }), 'tail 2'],
  ['a delta of kind 2', 'head', tailWith(0, { kind: 2 }), 'tail 0 kind'],
  ['a delta without bytes', 'head', tailWith(0, { delta: '' }), 'tail 0'],
  ['an inline delta above 4 KiB', 'head', tailWith(0, { length: 4097 }), 'tail 0 length'],
  ['a delta without a name', 'head', tailWith(1, { name: ZERO }), 'tail 1 name'],
  ['a delta above 1 MiB', 'head', tailWith(1, { length: (1 << 20) + 1 }), 'tail 1'],
  ['9 retired objects', 'head', withHead({ retiredCount: 9 }), 'retired'],
  ['a retired object of no folder', 'head', retiredWith(1, { folder: 2 }), 'retired 1'],
  ['a retired object without a name', 'head', retiredWith(1, { name: ZERO }), 'retired 1 name'],
  ['retired objects out of order', 'head', retiredWith(0, { seq: 13 }), 'retired 1'],
  ['retired by a later head', 'head', retiredWith(2, { seq: 41 }), 'retired 2'],
  ['retired by no head', 'head', retiredWith(0, { seq: 0 }), 'retired 0'],
  ['a stamp that nobody can know yet', 'head', retiredWith(2, { stamp: 5 }), 'retired 2'],
  [
    'a delta that is retired and in use',
    'head',
    retiredWith(2, { name: hash('delta 38') }),
    'retired 2',
  ],
  [
    'a log that is retired and in use',
    'head',
    retiredWith(2, { name: hash('log 20') }),
    'retired 2',
  ],
  ['65 sums', 'head', withHead({ sumCount: 65 }), 'sums'],
  ['sums out of order', 'head', withHead({ sums: FULL.sums.toReversed() }), 'sum 1'],
  ['a sum without a name', 'head', withHead({ sums: [{ ...FULL.sums[0], name: '' }] }), 'sum 0'],
  [
    'a name of 255 bytes',
    'head',
    withHead({ sums: [{ ...FULL.sums[0], name: '61'.repeat(255) }] }),
    'sum 0',
  ],
  [
    'a name that is not UTF-8',
    'head',
    withHead({ sums: [{ ...FULL.sums[0], name: '61c3' }] }),
    'sum 0 name',
  ],
  ['without entries', 'log', logWith({ tail: [] }), 'base'],
  ['behind its end', 'log', logWith({ after: '00' }), 'rest'],
  ['9 entries', 'log', logWith({ tailCount: 9 }), 'entries'],
  [
    'entries above 3 KiB',
    'log',
    logWith({ tail: [inline(1), inline(2, bytesOf('e', 3000))] }),
    'base',
  ],
  ['entries out of order', 'log', logWith({ tail: FULL.tail.toReversed() }), 'tail 1'],
  ['an entry of number 0', 'log', logWith({ tail: [inline(0, '01')] }), 'tail 0 rows count'],
  ['an entry that changes nothing', 'log', logWith({ base: FULL.tail[0].after }), 'tail 0'],
  ['a log above 8 KiB', 'log', logWith({ after: '00'.repeat(8192) }), 8192],
  ['without edits', 'delta', make.delta({ salt: id('salt'), body: '' }), 'body'],
  ['without frames', 'pack', packOf(), 'frames'],
  [
    'a frame that is cut off',
    'pack',
    make.pack({ salt: id('salt'), frames: [STORED], lengths: [STORED.length] }),
    'frame 0',
  ],
  [
    'behind its last frame',
    'pack',
    make.pack({ salt: id('salt'), frames: [STORED], after: '00' }),
    'rest',
  ],
  ['no length', 'pack', packOf('000000'), 0],
  ['no bytes when inflated', 'pack', packOf(make.edits([], 0)), 0],
  ['more than 16 MiB when inflated', 'pack', packOf(make.edits([], (16 << 20) + 1)), 0],
  ['fewer bytes than it says', 'pack', packOf(make.edits(make.stored(EDITS), EDITS.length + 1)), 4],
  ['more bytes than it says', 'pack', packOf(make.edits(make.stored(EDITS), EDITS.length - 1)), 4],
  ['a block of no kind', 'pack', packOf(make.edits([7], 1)), 4],
  ['bytes behind what is deflated', 'pack', packOf(`${STORED}00`), 4],
  [
    'a block that is cut off',
    'pack',
    packOf(make.edits(make.stored(EDITS).slice(0, -1), EDITS.length)),
    4,
  ],
];

/** The vectors, as text. */
export function vectorsText() {
  const objects = valid.map(([kind, name, write, fields]) => {
    const bytes = hexOf(write(fields).bytes);
    const says = kind === 'pack' || kind === 'delta' ? { ...fields, edits: hexOf(EDITS) } : fields;
    return { kind, name, bytes, says };
  });
  const faults = refused.map(([name, kind, { bytes, marks }, at]) => {
    const offset = typeof at === 'string' ? marks[at] : at;
    if (typeof at === 'string' && offset === undefined) throw new Error(`${kind}: no field ${at}`);
    const code = at === undefined ? 'unsupported-format' : 'invalid-remote';
    return { kind, name, bytes: hexOf(bytes), code, ...(at !== undefined && { offset }) };
  });
  // A sum has 64 bits, which no number of JSON has.
  const text = (_, value) => (typeof value === 'bigint' ? `${value}` : value);
  return `${JSON.stringify({ objects, refused: faults }, text, 2)}\n`;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) process.stdout.write(vectorsText());
