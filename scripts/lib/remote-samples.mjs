// The samples of the vectors of objects of a remote.

import { createHash } from 'node:crypto';
import * as make from './remote-objects.mjs';

const { hexOf } = make;
/** Makes bytes that look random, by a name. */
export const bytesOf = (name, length) =>
  createHash('shake256', { outputLength: length }).update(name).digest('hex');
export const id = (name) => bytesOf(name, 16);
export const hash = (name) => bytesOf(name, 32);
export const rows = (name, count = 7) => ({ root: hash(name), count });
export const ZERO = '00'.repeat(32);
export const NO_ROWS = { root: ZERO, count: 0 };
export const flipped = (bytes, at, mask = 1) =>
  bytes.map((byte, nth) => (nth === at ? byte ^ mask : byte));

export const inline = (seq, delta = '010203') => ({
  ...{ seq, nonce: id(`nonce ${seq}`), after: rows(`rows ${seq}`, seq), delta },
});
export const byName = (seq, length = 5000) => {
  const { delta, ...rest } = inline(seq);
  return { ...rest, name: hash(`delta ${seq}`), length };
};
export const pack = (name, length = 4000, edits = 3) => ({ name: hash(name), length, edits });
export const blockOf = (seq, pushes) => ({
  ...{ name: hash(`block ${seq}`), length: 500, seq, pushes },
});
export const logOf = (seq, entries) => ({
  ...{ name: hash(`log ${seq}`), length: 900, seq, entries, deltaBytes: 10 * entries },
});

const NO_CHECKPOINT = { seq: 0, nonce: '00'.repeat(16), history: [], layers: [] };
export const FIRST = {
  ...{ salt: id('salt 1'), nonce: id('nonce 1'), repository: id('repository'), seq: 1 },
  writer: id('writer'),
  ...{ previous: ZERO, app: 0, flags: 0, rows: NO_ROWS, checkpoint: NO_CHECKPOINT },
  ...{ logs: [], base: NO_ROWS, tail: [], sums: [] },
};

/** Two layers of packs, two logs, a tail that goes through the checkpoint, and sums. */
export const FULL = {
  ...FIRST,
  ...{ salt: id('salt 40'), nonce: id('nonce 40'), seq: 40, previous: hash('head 39') },
  ...{ app: 0xffff_fffe, flags: 1 },
  rows: rows('rows 40', 40),
  checkpoint: {
    ...{ seq: 38, nonce: id('nonce 38') },
    history: [blockOf(1, 25), blockOf(27, 12)],
    layers: [
      { seq: 12, rows: rows('rows 12', 12), packs: [pack('a', 16 << 20), pack('b', 1, 1)] },
      { seq: 38, rows: rows('rows 38', 38), packs: [pack('c', 4000, 0xffff_ffff)] },
    ],
  },
  logs: [logOf(20, 8), logOf(29, 3)],
  base: rows('rows 36', 2 ** 53 - 1),
  tail: [inline(37), byName(38), inline(40, bytesOf('edits', 300))],
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
const pushOf = (seq) => ({ seq, nonce: id(`nonce ${seq}`).slice(0, 16) });
export const HISTORY = { salt: id('salt history'), pushes: [1, 2, 4, 2 ** 53 - 1].map(pushOf) };
export const LOG = { salt: id('salt'), base: FULL.base, tail: FULL.tail };
export const EDITS = Buffer.from(
  '4844474401390069737375652f3030303030313235087b226964223a317d0001',
  'hex',
);
export const STORED = make.edits(make.stored(EDITS), EDITS.length);
/** The edits of the next key: the second frame. */
const NEXT_EDITS = Buffer.from(EDITS.toString('hex').replace('3235', '3236'), 'hex');
const FRAMES = [STORED, make.edits(make.stored(NEXT_EDITS), NEXT_EDITS.length)];
export const PACK = { salt: id('salt'), frames: FRAMES };

/** Bytes that stand for records of nodes: no code here reads them. */
const [RECORDS, MORE_RECORDS] = ['records', 'more records'].map((name) => bytesOf(name, 60));
const framesOf = (...all) =>
  all.map((one) => make.edits(make.stored(Buffer.from(one, 'hex')), one.length / 2));
export const NODES = { salt: id('salt nodes'), frames: framesOf(RECORDS, MORE_RECORDS) };

const keyOf = (text) => hexOf(Buffer.from(text));
const startsOf = (...names) => names.map((name) => hash(name).slice(0, 8));
/** A directory of two packs, whose keys share a prefix, and of one object of nodes. */
export const DIRECTORY = {
  salt: id('salt directory'),
  packs: [
    {
      salt: id('salt a'),
      frames: [
        { length: 7000, key: keyOf('issue/0001') },
        { length: 1, key: keyOf('issue/00017') },
      ],
    },
    { salt: id('salt b'), frames: [{ length: 16 << 20, key: keyOf('issue/02') }] },
  ],
  objects: [
    {
      salt: id('salt c'),
      frames: [
        { length: 9000, starts: startsOf('node 1', 'node 2') },
        { length: 500, starts: startsOf('node 3') },
      ],
    },
  ],
  top: bytesOf('top', 90),
};
const LEAF_DIRECTORY = {
  salt: id('salt directory'),
  packs: [{ salt: id('salt a'), frames: [{ length: 90, key: '' }] }],
  ...{ objects: [], top: '' },
};

const NAMES = ['a', 'b', 'c'].map((name) => hash(name)).sort();
const markOf = (nth, stamp) => ({ name: hash(`mark ${nth}`), length: 60 + 32 * nth, stamp });
export const RECORD = {
  ...{ salt: id('salt record'), collected: 1_700_000_000 },
  marks: [markOf(1, 1_699_000_000), markOf(2, 0)],
};
export const MARK = { salt: id('salt mark'), packs: NAMES, deltas: NAMES.slice(1) };

export const valid = [
  ['repository', 'a repository', make.repository, { id: id('repository'), app: 0 }],
  ['repository', 'of the newest app', make.repository, { id: id('other'), app: 0xffff_ffff }],
  ['head', 'the first one, without rows', make.head, FIRST],
  ['head', 'with every field', make.head, FULL],
  ['head', 'eight entries', make.head, EIGHT],
  ['head', 'one entry of 4 KiB', make.head, ALONE],
  ['log', 'three entries', make.log, LOG],
  ['log', 'one entry of 4 KiB', make.log, { ...LOG, base: NO_ROWS, tail: ALONE.tail }],
  ['pack', 'one frame', make.pack, { salt: id('salt'), frames: [STORED] }],
  ['pack', 'two frames', make.pack, PACK],
  ['nodes', 'two frames', make.nodes, NODES],
  ['directory', 'of two packs and an object of nodes', make.directory, DIRECTORY],
  ['directory', 'of a tree that is a leaf', make.directory, LEAF_DIRECTORY],
  ['delta', 'edits that are stored', make.delta, { salt: id('salt'), body: STORED }],
  ['history', 'of four pushes', make.history, HISTORY],
  ['history', 'of one push', make.history, { ...HISTORY, pushes: HISTORY.pushes.slice(0, 1) }],
  ['record', 'of two marks', make.record, RECORD],
  ['record', 'of none', make.record, { salt: id('salt'), collected: 0, marks: [] }],
  ['mark', 'of three packs and two deltas', make.mark, MARK],
];

/** Replaces some bytes with others. */
const spliced = (bytes, at, other) =>
  Uint8Array.from([...bytes.slice(0, at), ...other, ...bytes.slice(at + other.length)]);

/** Makes faults of an object of two frames; `other` has the same frames and another salt. The tag closes a part. */
export function packFaults({ bytes, marks }, other, tag = 4, kind = 'pack') {
  const pack = (changed) => [kind, { bytes: changed, marks }];
  const [first, second] = [marks['frame 0'], marks['frame 1']];
  const { length } = bytes;
  return [
    ['nothing', ...pack(bytes.slice(0, 0)), 0],
    ['another magic', ...pack(flipped(bytes, 3)), 0],
    ['cut off in its salt', ...pack(bytes.slice(0, 20)), 8],
    ['cut off in the number of frames', ...pack(bytes.slice(0, marks.table - 1)), 'frames'],
    ['cut off in its table', ...pack(bytes.slice(0, marks.table + 3)), 'table', 3],
    ['cut off behind its table', ...pack(bytes.slice(0, first)), 'frame 0'],
    ['cut off at its end', ...pack(bytes.slice(0, -1)), length - 1],
    ['one byte more', ...pack(Uint8Array.from([...bytes, 0])), 'end'],
    ['a bit of its table', ...pack(flipped(bytes, marks.table)), 'frame 0', -tag],
    ['a bit of a frame', ...pack(flipped(bytes, first + 5)), 'frame 1', -tag],
    ['a bit of its last seal', ...pack(flipped(bytes, length - 1)), length - tag],
    [
      'another number of frames',
      ...pack(flipped(bytes, marks.frames)),
      'table',
      tag === 4 ? 12 : 256,
    ],
    [
      `a frame of another ${kind}`,
      ...pack(spliced(bytes, second, other.bytes.slice(second))),
      'end',
      -tag,
    ],
    [
      `the table of another ${kind}`,
      ...pack(spliced(bytes, marks.table, other.bytes.slice(marks.table, first))),
      'frame 0',
      -tag,
    ],
  ];
}

/** Returns the contents of an object; for edits also the inflated ones. */
export function saysOf(kind, fields) {
  if (kind === 'delta') return { ...fields, edits: hexOf(EDITS) };
  if (kind === 'nodes') return { ...fields, records: [RECORDS, MORE_RECORDS] };
  if (kind !== 'pack') return fields;
  const edits = [EDITS, NEXT_EDITS].slice(0, fields.frames.length).map(hexOf);
  return { ...fields, edits };
}
