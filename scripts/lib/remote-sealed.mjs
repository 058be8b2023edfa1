// Makes the vectors of an encrypted remote.

import * as make from './remote-objects.mjs';
import {
  DIRECTORY,
  FULL,
  flipped,
  HISTORY,
  hash,
  id,
  LOG,
  MARK,
  NODES,
  PACK,
  packFaults,
  RECORD,
  STORED,
  saysOf,
  valid,
} from './remote-samples.mjs';

const { hexOf } = make;

/** Returns a refused object as the vectors have it. */
export function faultOf([name, kind, { bytes, marks }, at, more = 0]) {
  const offset = typeof at === 'string' ? marks[at] + more : at;
  if (typeof at === 'string' && !(offset >= 0)) throw new Error(`${kind}: no field ${at}`);
  const code = at === undefined ? 'newer-version/format' : 'remote/data';
  return { kind, name, bytes: hexOf(bytes), code, ...(at !== undefined && { offset }) };
}

const KEYS = { 1: hash('key 1'), 2: hash('key 2'), 65535: hash('key 65535') };
/** With a letter of two bytes. */
const PLACE = 'rooms/é';
const MAIN = hexOf(Buffer.from('main'));
const OTHER = hexOf(Buffer.from('other'));
const REPOSITORY = { id: FULL.repository, app: 1 };

const COLLECTION = hexOf(Buffer.from('~collection'));
const CONTEXTS = { head: MAIN, record: COLLECTION, mark: COLLECTION };

/**
 * Returns the context of an object: the branch of a head, the record of collections for a mark or record, and otherwise
 * the repository.
 */
const contextOf = (kind) => CONTEXTS[kind] ?? FULL.repository;

/** Encrypts an object; `given` may have its faults. */
function seal(kind, write, fields, epoch, given) {
  const sealing = { key: KEYS[epoch], place: PLACE, epoch, context: contextOf(kind), ...given };
  if (kind === 'pack' || kind === 'nodes') {
    return make.framed(kind, { ...fields, sealing, as: given?.as });
  }
  if (kind === 'directory') return make.directory({ ...fields, sealing });
  return make.sealed(kind, sealing, write(fields));
}

const pack = (given, salt = PACK.salt) => seal('pack', undefined, { ...PACK, salt }, 2, given);
const head = (given, epoch = 2) => seal('head', make.head, FULL, epoch, given);
const log = () => seal('log', make.log, LOG, 2);
const delta = (given) => seal('delta', make.delta, { salt: id('salt'), body: STORED }, 2, given);
const nodes = (given, salt = NODES.salt) => seal('nodes', undefined, { ...NODES, salt }, 2, given);
const directory = (given, change) =>
  seal('directory', undefined, { ...DIRECTORY, ...change }, 2, given);
const record = () => seal('record', make.record, RECORD, 2);
const mark = () => seal('mark', make.mark, MARK, 2);
const history = () => seal('history', make.history, HISTORY, 2);
const repository = (given) => seal('repository', make.repository, REPOSITORY, 2, given);

/** Lists faults that each object of one part must refuse. */
function partFaults(kind, { bytes, marks }) {
  const end = bytes.length - (kind === 'repository' ? 4 : 16);
  const one = (changed) => [kind, { bytes: changed, marks }];
  return [
    ['nothing', ...one(bytes.slice(0, 0)), 0],
    ['another magic', ...one(flipped(bytes, 3)), 0],
    ['cut off in its check', ...one(bytes.slice(0, 27)), 'check'],
    ['cut off in its crc', ...one(bytes.slice(0, 31)), 'crc'],
    ['cut off behind its envelope', ...one(bytes.slice(0, 33)), 33],
    ['cut off at its end', ...one(bytes.slice(0, -1)), end - 1],
    ['one byte more', ...one(Uint8Array.from([...bytes, 0])), end + 1],
    ['a bit of the epoch', ...one(flipped(bytes, 6)), 'crc'],
    ['a bit of the salt', ...one(flipped(bytes, 9)), 'crc'],
    ['a bit of the check', ...one(flipped(bytes, 25)), 'crc'],
    ['a bit of the crc', ...one(flipped(bytes, 29)), 'crc'],
    ['a bit of the body', ...one(flipped(bytes, 33)), end],
    ['a bit of the seal', ...one(flipped(bytes, bytes.length - 1)), end],
  ];
}

/** Makes parts that are well encrypted, but belong elsewhere or are malformed. */
function partsOfElsewhere() {
  return [
    ['of another branch', 'head', head({ as: { context: OTHER } })],
    ['as part 1', 'head', head({ as: { number: 1 } })],
    ['as one of 2 parts', 'head', head({ as: { parts: 2 } })],
    ['padded by ones', 'head', head({ as: { zeros: 1 } })],
    ['padded more than it must be', 'head', head({ as: { unit: 4096 } })],
    ['that ends behind its end', 'head', head({ as: { length: 1 << 20 } })],
    ['that ends before its end', 'head', head({ as: { length: 10 } })],
    ['of another repository', 'delta', delta({ as: { context: id('another') } })],
  ].map(([name, kind, made]) => [name, kind, made, made.bytes.length - 16]);
}

function framesOfElsewhere() {
  return [
    ['frames that are swapped', pack({ as: { order: [1, 0] } }), 'frame 1'],
    ['a frame of a pack of more frames', pack({ as: { 1: { parts: 4 } } }), 'frame 1'],
    ['a frame of another repository', pack({ as: { 2: { context: id('another') } } }), 'end'],
    ['a frame that is padded more', pack({ as: { 1: { unit: 1024 } } }), 'frame 1'],
  ].map(([name, made, mark]) => [name, 'pack', made, mark, -16]);
}

/** Makes directories whose envelopes of packs do not belong to this remote. */
function directoriesOfElsewhere() {
  const [first, ...others] = DIRECTORY.packs;
  const withPack = (change) =>
    directory(undefined, { packs: [{ ...first, ...change }, ...others] });
  return [
    ['a pack of epoch 0', 'directory', withPack({ epoch: 0 }), 'pack 0', 6],
    ['a pack of suite 0', 'directory', withPack({ epoch: 0, suite: 0 }), 'pack 0'],
    ['a pack of suite 2', 'directory', withPack({ suite: 2 }), undefined],
  ];
}

function wrongKeys() {
  const key = hash('another key');
  const place = 'rooms/e';
  return [
    ['another key', 'head', head({ key })],
    ['another key', 'repository', repository({ key })],
    ['another key', 'pack', pack({ key })],
    ['another key', 'nodes', nodes({ key })],
    ['another key', 'directory', directory({ key })],
    ['another place', 'head', head({ place })],
    ['another place', 'repository', repository({ place })],
    ['another place', 'pack', pack({ place })],
    ['another place', 'nodes', nodes({ place })],
    ['another place', 'directory', directory({ place })],
    ['a check of another key', 'head', head({ check: '00000000' })],
    ['an epoch without a key', 'head', head({ key: KEYS[1] }, 3)],
    ['the key of another epoch', 'head', head({ key: KEYS[1] })],
    ['not encrypted', 'head', make.head(FULL)],
    ['not encrypted', 'pack', make.pack(PACK)],
    ['not encrypted', 'nodes', make.nodes(NODES)],
    ['not encrypted', 'directory', make.directory(DIRECTORY)],
    ['not encrypted', 'repository', make.repository(REPOSITORY)],
  ].map(([name, kind, { bytes }]) => ({ kind, name, bytes: hexOf(bytes), code: 'wrong-key' }));
}

export function sealedVectors() {
  const objects = valid.map(([kind, name, write, fields], nth) => {
    const epoch = [1, 2, 65535][nth % 3];
    const { bytes } = seal(kind, write, fields, epoch);
    const says = saysOf(kind, fields);
    return { kind, name, epoch, context: contextOf(kind), bytes: hexOf(bytes), says };
  });
  const faults = [
    ...partFaults('repository', repository()),
    ...partFaults('head', head()),
    ...partFaults('log', log()),
    ...partFaults('delta', delta()),
    ...partFaults('directory', directory()),
    ...partFaults('record', record()),
    ...partFaults('mark', mark()),
    ...partFaults('history', history()),
    ...packFaults(pack(), pack(undefined, id('other')), 16),
    ...packFaults(nodes(), nodes(undefined, id('other')), 16, 'nodes'),
    ...directoriesOfElsewhere(),
    ...partsOfElsewhere(),
    ...framesOfElsewhere(),
    ['version 2', 'head', head({ version: 2 }), undefined],
    ['suite 2', 'head', head({ suite: 2 }), undefined],
    ['suite 0', 'head', head({ suite: 0 }), 'reserved'],
    ['epoch 0', 'head', head({ epoch: 0 }), 'reserved'],
  ].map(faultOf);
  const refused = [...faults, ...wrongKeys()].map((one) => ({
    ...one,
    context: contextOf(one.kind),
  }));
  return { keys: KEYS, place: PLACE, objects, refused };
}
