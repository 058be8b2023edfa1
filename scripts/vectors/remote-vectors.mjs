// Writes `vectors/remote/objects.json`, objects of a remote with their contents, and objects that must be refused; and
// `vectors/remote/sealed.json`, the same for an encrypted remote: `node scripts/vectors/remote-vectors.mjs`

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as make from '../lib/remote-objects.mjs';
import {
  bytesOf,
  DIRECTORY,
  EDITS,
  FIRST,
  FULL,
  flipped,
  HISTORY,
  hash,
  id,
  inline,
  LOG,
  logOf,
  MARK,
  NO_ROWS,
  NODES,
  PACK,
  pack,
  packFaults,
  RECORD,
  rows,
  STORED,
  saysOf,
  valid,
  ZERO,
} from '../lib/remote-samples.mjs';
import { faultOf, sealedVectors } from '../lib/remote-sealed.mjs';
import { ROOT } from '../lib/run.mjs';

const { hexOf } = make;

const withHead = (change) => make.head({ ...FULL, ...change });
const tailWith = (nth, change) =>
  withHead({ tail: FULL.tail.map((one, at) => (at === nth ? { ...one, ...change } : one)) });
const logsWith = (nth, change) =>
  withHead({ logs: FULL.logs.map((one, at) => (at === nth ? { ...one, ...change } : one)) });
const layerWith = (nth, change) => {
  const layers = FULL.checkpoint.layers.map((one, at) =>
    at === nth ? { ...one, ...change } : one,
  );
  return withHead({ checkpoint: { ...FULL.checkpoint, layers } });
};
const checkpointWith = (change) => withHead({ checkpoint: { ...FULL.checkpoint, ...change } });
const blocksWith = (nth, change) =>
  checkpointWith({
    history: FULL.checkpoint.history.map((one, at) => (at === nth ? { ...one, ...change } : one)),
  });
const pushesWith = (...seqs) =>
  make.history({ ...HISTORY, pushes: seqs.map((seq) => ({ ...HISTORY.pushes[0], seq })) });
const logWith = (change) => make.log({ ...LOG, ...change });

const recordWith = (change) => make.record({ ...RECORD, ...change });
const markWith = (change) => make.mark({ ...MARK, ...change });

const directoryWith = (change) => make.directory({ ...DIRECTORY, ...change });
/** Makes a directory with changes to its first pack. */
const withPack = (change) => {
  const [first, ...others] = DIRECTORY.packs;
  return directoryWith({ packs: [{ ...first, ...change }, ...others] });
};
const withNodes = (change) => directoryWith({ objects: [{ ...DIRECTORY.objects[0], ...change }] });
const withKeys = (...keys) =>
  withPack({ frames: keys.map((key) => ({ length: 9, key: hexOf(Buffer.from(key)) })) });

const packOf = (frame) => make.pack({ salt: id('salt'), frames: [frame] });

/** Name, kind, object, and the mark of the fault; without a mark the format is not supported. */
const refused = [
  ...[
    ['repository', make.repository({ id: id('repository'), app: 1 })],
    ['head', make.head(FULL)],
    ['log', make.log(LOG)],
    ['directory', make.object('directory', { salt: id('salt') }, (fields) => fields.hex(STORED))],
    ['delta', make.delta({ salt: id('salt'), body: STORED })],
    ['record', make.record(RECORD)],
    ['mark', make.mark(MARK)],
    ['history', make.history(HISTORY)],
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
  ...packFaults(make.pack(PACK), make.pack({ ...PACK, salt: id('other') })),
  ...packFaults(make.nodes(NODES), make.nodes({ ...NODES, salt: id('other') }), 4, 'nodes'),
  ['a pack', 'nodes', make.pack(PACK), 0],
  ['nodes', 'pack', make.nodes(NODES), 0],
  ['no frames', 'nodes', make.nodes({ ...NODES, frames: [] }), 'frames'],
  ['more packs than it has', 'directory', directoryWith({ packCount: 3 }), 'objects'],
  ['no frames', 'directory', withPack({ frames: [] }), 'pack 0 frames'],
  ['1,025 frames', 'directory', withPack({ count: 1025 }), 'pack 0 frames'],
  ['version 0 of a pack', 'directory', withPack({ version: 0 }), 'pack 0', 4],
  ['version 2 of a pack', 'directory', withPack({ version: 2 }), undefined],
  ['a pack that is encrypted', 'directory', withPack({ suite: 1 }), 'pack 0', 6],
  ['an epoch of a pack', 'directory', withPack({ reserved: 1 }), 'pack 0', 6],
  ['version 0 of nodes', 'directory', withNodes({ version: 0 }), 'nodes 0', 4],
  ['keys out of order', 'directory', withKeys('b', 'a'), 'key 0 1'],
  ['a key twice', 'directory', withKeys('a', 'a'), 'key 0 1'],
  ['a key that begins the one before', 'directory', withKeys('ab', 'a'), 'key 0 1'],
  ['a key of 1,025 bytes', 'directory', withKeys('a'.repeat(1025)), 'key 0 0'],
  [
    'a key that shares more than there is',
    'directory',
    withPack({ frames: [{ length: 9, key: '6161', shared: 1 }] }),
    'key 0 0',
  ],
  [
    'a key that shares less than it can',
    'directory',
    withPack({
      frames: [
        { length: 9, key: '6161' },
        { length: 9, key: '6162', shared: 0 },
      ],
    }),
    'key 0 1',
  ],
  [
    'a frame without nodes',
    'directory',
    withNodes({ frames: [{ length: 9, starts: [] }] }),
    'starts 0 0',
  ],
  ['no frames of nodes', 'directory', withNodes({ frames: [] }), 'nodes 0 frames'],
  ['no frames', 'pack', make.pack({ ...PACK, frames: [] }), 'frames'],
  ['1,025 frames', 'pack', make.pack({ ...PACK, count: 1025 }), 'frames'],
  ['frames that are swapped', 'pack', make.pack({ ...PACK, as: { order: [1, 0] } }), 'frame 1', -4],
  ['a frame that is there twice', 'pack', make.pack({ ...PACK, as: { order: [0, 0] } }), 'end', -4],
  ['frames above 16 MiB', 'pack', make.pack({ ...PACK, lengths: [9, 16 << 20] }), 'table', 4],
  ['version 0', 'head', withHead({ version: 0 }), 'version'],
  ['version 2', 'head', withHead({ version: 2 }), undefined],
  ['a later crypto suite', 'head', withHead({ suite: 2 }), undefined],
  ['encrypted, without an epoch', 'head', withHead({ suite: 1 }), 'reserved'],
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
    'a checkpoint without its layer',
    'head',
    withHead({ checkpoint: { ...FULL.checkpoint, seq: 39 } }),
    'checkpoint',
  ],
  [
    'a checkpoint without its nonce',
    'head',
    checkpointWith({ nonce: '00'.repeat(16) }),
    'checkpoint',
  ],
  ['a checkpoint without history', 'head', checkpointWith({ history: [] }), 'checkpoint'],
  ['33 blocks of history', 'head', checkpointWith({ blockCount: 33 }), 'blocks'],
  ['a block of zeros', 'head', blocksWith(0, { name: ZERO }), 'block 0'],
  ['a block of number 0', 'head', blocksWith(0, { seq: 0 }), 'block 0'],
  ['a block without bytes', 'head', blocksWith(1, { length: 0 }), 'block 1'],
  ['a block that is too long', 'head', blocksWith(1, { length: (1 << 20) + 2049 }), 'block 1'],
  ['a block without pushes', 'head', blocksWith(0, { pushes: 0 }), 'block 0'],
  ['a block of 65,537 pushes', 'head', blocksWith(0, { pushes: 65_537 }), 'block 0'],
  ['a block that reaches into the next', 'head', blocksWith(0, { pushes: 27 }), 'block 1'],
  ['a block later than the checkpoint', 'head', blocksWith(1, { pushes: 13 }), 'block 1'],
  ['layers out of order', 'head', layerWith(0, { seq: 38 }), 'layer 1'],
  ['layer 0', 'head', layerWith(0, { seq: 0 }), 'layer 0'],
  ['a layer without packs', 'head', layerWith(0, { packs: [] }), 'layer 0'],
  ['a layer without rows', 'head', layerWith(0, { rows: NO_ROWS }), 'layer 0'],
  [
    'other rows of the checkpoint',
    'head',
    layerWith(1, { rows: rows('elsewhere') }),
    'checkpoint',
  ],
  [
    'a pack of zeros',
    'head',
    layerWith(1, { packs: [{ ...pack('c'), name: ZERO }] }),
    'pack 2',
  ],
  ['a pack twice', 'head', layerWith(1, { packs: [pack('a')] }), 'pack 2'],
  ['a pack without bytes', 'head', layerWith(1, { packs: [pack('c', 0)] }), 'pack 2'],
  [
    'a pack above 16 MiB',
    'head',
    layerWith(1, { packs: [pack('c', (16 << 20) + 1)] }),
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
  ['without pushes', 'history', pushesWith(), 'rest'],
  ['a push of number 0', 'history', pushesWith(0), 'push 0'],
  ['pushes out of order', 'history', pushesWith(1, 3, 2), 'push 2'],
  ['a push twice', 'history', pushesWith(1, 1), 'push 1'],
  ['behind its end', 'history', make.history({ ...HISTORY, after: '00' }), 'rest'],
  ['without edits', 'delta', make.delta({ salt: id('salt'), body: '' }), 'body'],
  ['9 marks', 'record', recordWith({ count: 9 }), 'count'],
  ['more marks than it has', 'record', recordWith({ count: 3 }), 'rest'],
  ['fewer marks than it has', 'record', recordWith({ count: 1 }), 'mark 1'],
  [
    'a mark without a name',
    'record',
    recordWith({ marks: [{ ...RECORD.marks[0], name: ZERO }] }),
    'mark 0',
  ],
  [
    'a mark without bytes',
    'record',
    recordWith({ marks: [{ ...RECORD.marks[0], length: 0 }] }),
    'mark 0 length',
  ],
  ['bytes behind its marks', 'record', recordWith({ after: '00' }), 'rest'],
  ['more names than it has', 'mark', markWith({ packCount: 99 }), 'packs'],
  ['names out of order', 'mark', markWith({ packs: MARK.packs.toReversed() }), 'pack 1'],
  ['a name twice', 'mark', markWith({ deltas: [hash('a'), hash('a')] }), 'delta 1'],
  ['a name of zeros', 'mark', markWith({ deltas: [ZERO] }), 'delta 0'],
  ['no names', 'mark', markWith({ packs: [], deltas: [] }), 'rest'],
  ['bytes behind its names', 'mark', markWith({ after: '00' }), 'rest'],
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

/** Returns the vectors of plain objects, as text. */
export function vectorsText() {
  return textOf({ objects: valid.map(vectorOf), refused: refused.map(faultOf) });
}

function vectorOf([kind, name, write, fields]) {
  return { kind, name, bytes: hexOf(write(fields).bytes), says: saysOf(kind, fields) };
}

/** A sum has 64 bits, which no number of JSON has. */
const textOf = (vectors) => {
  const text = (_, value) => (typeof value === 'bigint' ? `${value}` : value);
  return `${JSON.stringify(vectors, text, 2)}\n`;
};

/** Returns the vectors of an encrypted remote, as text. */
export const sealedText = () => textOf(sealedVectors());

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  for (const [name, text] of [
    ['objects', vectorsText()],
    ['sealed', sealedText()],
  ]) {
    writeFileSync(join(ROOT, 'vectors', 'remote', `${name}.json`), text);
  }
}
