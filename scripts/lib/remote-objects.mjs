// Builds the objects of a remote byte by byte, from `docs/format.md` alone: it shares no code with the package, so that
// the vectors that it makes are a second opinion. OpenSSL encrypts them.

import { createCipheriv, hkdfSync } from 'node:crypto';

/** Computes CRC-32, bit by bit. */
export function crc32(bytes) {
  let crc = 0xffff_ffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb8_8320 : 0);
  }
  return (crc ^ 0xffff_ffff) >>> 0;
}

export const hexOf = (bytes) => Buffer.from(bytes).toString('hex');
const little = (value, length) =>
  Array.from({ length }, (_, nth) => Number((BigInt(value) >> BigInt(8 * nth)) & 0xffn));

/** Fields one after the other, and the places of the marked ones. */
export class Fields {
  bytes = [];
  marks = {};

  mark(name) {
    this.marks[name] = this.bytes.length;
    return this;
  }
  u8(value) {
    this.bytes.push(value);
    return this;
  }
  u16(value) {
    this.bytes.push(...little(value, 2));
    return this;
  }
  u32(value) {
    this.bytes.push(...little(value, 4));
    return this;
  }
  u64(value) {
    this.bytes.push(...little(value, 8));
    return this;
  }
  hex(text) {
    this.bytes.push(...Buffer.from(text, 'hex'));
    return this;
  }
}

const MAGICS = {
  ...{ repository: 'HDGC', head: 'HDGR', log: 'HDGL', pack: 'HDGP', delta: 'HDGE' },
  ...{ nodes: 'HDGN', directory: 'HDGI', record: 'HDGK', mark: 'HDGM', history: 'HDGH' },
};

/** The kinds with frames. */
const FRAMED = ['pack', 'nodes'];

/** Makes an object, and the marks of its body. `change` may alter the bytes before they are sealed. */
export function object(kind, envelope, writeBody) {
  const fields = plainEnvelope(kind, envelope);
  writeBody(fields);
  const { bytes } = fields;
  fields
    .mark('seal')
    .u32(crcOf(bytes.slice(0, 24), 0, 1, bytes.slice(24)))
    .mark('end');
  return { bytes: Uint8Array.from(fields.bytes), marks: fields.marks };
}

/** Computes the CRC of a part of a plain object. */
const crcOf = (envelope, number, parts, part) =>
  crc32([...envelope, ...little(number, 4), ...little(parts, 4), ...part]);

/** Returns the bytes of a part before encryption: `length` and `zeros` may lie. */
function padded(part, unit, { length = part.length, zeros = 0 } = {}) {
  const all = [...little(length, 4), ...part];
  while (all.length % unit > 0) all.push(zeros);
  return all;
}

/** Derives bytes from this key alone, for objects of a kind with this salt: 32 of a key, and 4 of its check. */
const derivedOf = (kind, { key, salt, place }) =>
  new Uint8Array(
    hkdfSync(
      'sha256',
      Buffer.from(key, 'hex'),
      Buffer.from(salt, 'hex'),
      `hedgerow remote ${kind} of ${place}`,
      36,
    ),
  );

/** Makes the first bytes of an encrypted object. */
function envelopeOf(kind, sealing) {
  const { salt, epoch, version = 1, suite = 1, check } = sealing;
  const fields = new Fields();
  for (const letter of MAGICS[kind]) fields.u8(letter.charCodeAt(0));
  fields.mark('version').u8(version).mark('suite').u8(suite).mark('reserved').u16(epoch).hex(salt);
  fields.mark('check').hex(check ?? hexOf(derivedOf(kind, sealing).slice(32)));
  return fields.mark('crc').u32(crc32(fields.bytes));
}

/** Encrypts a part; `as` may set another number, number of parts, or context. */
function encrypted(kind, envelope, sealing, number, parts, part, as = {}) {
  const nonce = [...little(as.number ?? number, 4), ...little(0, 8)];
  const key = derivedOf(kind, sealing).slice(0, 32);
  const cipher = createCipheriv('aes-256-gcm', key, Uint8Array.from(nonce));
  const context = Buffer.from(as.context ?? sealing.context, 'hex');
  cipher.setAAD(
    Uint8Array.from([
      ...envelope,
      ...little(as.number ?? number, 4),
      ...little(as.parts ?? parts, 4),
      ...context,
    ]),
  );
  const plain = padded(part, as.unit ?? (FRAMED.includes(kind) ? 256 : 1024), as);
  const begun = cipher.update(Uint8Array.from(plain));
  return [...begun, ...cipher.final(), ...cipher.getAuthTag()];
}

/** Encrypts an object; `given` has key, place, epoch and context, and faults if any. All in hexadecimal. */
export function sealed(kind, given, { bytes }) {
  const sealing = { salt: hexOf(bytes.slice(8, 24)), ...given };
  const fields = envelopeOf(kind, sealing);
  const envelope = fields.bytes.slice();
  const body = [...bytes.slice(24, -4)];
  fields.mark('parts');
  if (kind === 'repository') {
    fields.bytes.push(...body);
    fields.mark('seal').u32(crcOf(envelope, 0, 1, body));
  } else fields.bytes.push(...encrypted(kind, envelope, sealing, 0, 1, body, sealing.as));
  return { bytes: Uint8Array.from(fields.bytes), marks: fields.marks };
}

/** Makes the first bytes of a plain object. */
function plainEnvelope(kind, { salt, version = 1, suite = 0, reserved = 0 }) {
  const fields = new Fields();
  for (const letter of MAGICS[kind]) fields.u8(letter.charCodeAt(0));
  fields.mark('version').u8(version).mark('suite').u8(suite).mark('reserved').u16(reserved);
  return fields.hex(salt);
}

/**
 * Makes an object of frames, each the bytes of edits or records; encrypted with `sealing`. `as` may change parts, and
 * the order of frames.
 */
export function framed(kind, of) {
  const { salt, frames, sealing, count = frames.length, lengths, after = '', as } = of;
  const own = sealing && { ...sealing, salt };
  const fields = own ? envelopeOf(kind, own) : plainEnvelope(kind, { salt });
  const envelope = fields.bytes.slice();
  const parts = 1 + count;
  const close = (number, part) => {
    if (own) return encrypted(kind, envelope, own, number, parts, part, as?.[number]);
    return [...part, ...little(crcOf(envelope, number, parts, part), 4)];
  };
  const closed = frames.map((frame, nth) => close(1 + nth, [...Buffer.from(frame, 'hex')]));
  const table = (lengths ?? closed.map(({ length }) => length)).flatMap((one) => little(one, 4));
  fields.mark('frames').u32(count).mark('table');
  fields.bytes.push(...close(0, table));
  for (const [nth, frame] of closed.entries()) {
    fields.mark(`frame ${nth}`);
    fields.bytes.push(...(as?.order ? closed[as.order[nth]] : frame));
  }
  fields.mark('end').hex(after);
  return { bytes: Uint8Array.from(fields.bytes), marks: fields.marks };
}

export const pack = (of) => framed('pack', of);
export const nodes = (of) => framed('nodes', of);

/** Returns the length of the common prefix of two keys, in bytes. */
function sharedLength(a, b) {
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) at += 1;
  return at;
}

/**
 * Makes a directory, with the marks of its envelope and of its deflated part; encrypted with `sealing`. Packs and
 * objects of nodes have a salt, frames, and faults of their envelope and the number of frames, if any; a frame its
 * length, a key or the starts of hashes, and a wrong `shared`, if any.
 */
export function directory({ salt, packs, objects, top, packCount = packs.length, sealing }) {
  const fields = new Fields();
  const front = (kind, name, { salt: own, frames, count = frames.length, ...envelope }) => {
    const begin = sealing
      ? envelopeOf(kind, { ...sealing, salt: own, ...envelope })
      : plainEnvelope(kind, { salt: own, ...envelope });
    fields.mark(name).hex(hexOf(begin.bytes)).mark(`${name} frames`).u16(count);
  };
  let before = Buffer.alloc(0);
  fields.mark('packs').u16(packCount);
  for (const [nth, one] of packs.entries()) {
    front('pack', `pack ${nth}`, one);
    for (const [at, { length, key, shared }] of one.frames.entries()) {
      const bytes = Buffer.from(key, 'hex');
      const same = shared ?? sharedLength(before, bytes);
      fields.u32(length).mark(`key ${nth} ${at}`).u16(same);
      fields.u16(bytes.length - same).hex(hexOf(bytes.subarray(same)));
      before = bytes;
    }
  }
  fields.mark('objects').u16(objects.length);
  for (const [nth, one] of objects.entries()) {
    front('nodes', `nodes ${nth}`, one);
    for (const [at, { length, starts }] of one.frames.entries()) {
      fields.u32(length).mark(`starts ${nth} ${at}`).u16(starts.length);
      for (const start of starts) fields.hex(start);
    }
  }
  fields.mark('top').hex(top);
  const plain = fields.bytes;
  const body = edits(stored(plain), plain.length);
  const made = object('directory', { salt }, (outer) => outer.mark('body').hex(body));
  const { bytes, marks } = sealing ? sealed('directory', { ...sealing, salt }, made) : made;
  return { bytes, marks: { ...marks, ...fields.marks } };
}

const rows = (fields, name, { root, count }) =>
  fields.mark(name).hex(root).mark(`${name} count`).u64(count);

export function repository({ id, app, codec = 1, padding = 0, keys = 0, ...envelope }) {
  return object('repository', { salt: id, ...envelope }, (fields) => {
    fields.mark('codec').u8(codec).mark('padding').u8(padding).u16(0);
    fields.mark('app').u32(app).mark('keys').u32(keys);
  });
}

function entries(fields, { base, tail, tailCount = tail.length }) {
  fields.mark('entries').u16(tailCount).mark('base');
  if (tail.length > 0) rows(fields, 'base', base);
  for (const [nth, { seq, nonce, after, kind, delta, name, length }] of tail.entries()) {
    fields.mark(`tail ${nth}`).u64(seq).hex(nonce);
    rows(fields, `tail ${nth} rows`, after);
    const isObject = name !== undefined;
    fields
      .mark(`tail ${nth} kind`)
      .u8(kind ?? (isObject ? 1 : 0))
      .mark(`tail ${nth} length`);
    if (isObject) fields.u32(length).mark(`tail ${nth} name`).hex(name);
    else fields.u32(length ?? delta.length / 2).hex(delta);
  }
}

export function log({ salt, after = '', ...tail }) {
  return object('log', { salt }, (fields) => {
    entries(fields, tail);
    fields.mark('rest').hex(after);
  });
}

export function head(of) {
  const { salt, version, suite, reserved, after = '' } = of;
  return object('head', { salt, version, suite, reserved }, (fields) => {
    fields
      .hex(of.repository)
      .mark('seq')
      .u64(of.seq)
      .hex(of.writer)
      .hex(of.nonce)
      .mark('previous')
      .hex(of.previous);
    fields.mark('app').u32(of.app).mark('flags').u32(of.flags);
    rows(fields, 'rows', of.rows);
    const { seq, nonce, history, blockCount = history.length } = of.checkpoint;
    fields.mark('checkpoint').u64(seq).hex(nonce).mark('blocks').u16(blockCount);
    for (const [nth, one] of history.entries()) {
      fields.mark(`block ${nth}`).hex(one.name).u32(one.length);
      fields.u64(one.seq).u32(one.pushes);
    }
    fields.mark('layers');
    fields.u16(of.checkpoint.layers.length);
    let packs = 0;
    for (const [nth, one] of of.checkpoint.layers.entries()) {
      fields.mark(`layer ${nth}`).u64(one.seq);
      rows(fields, `layer ${nth} rows`, one.rows);
      fields.u16(one.packs.length);
      for (const { name, length, edits } of one.packs) {
        fields.mark(`pack ${packs}`).hex(name).u32(length).u32(edits);
        packs += 1;
      }
    }
    fields.mark('logs').u16(of.logCount ?? of.logs.length);
    for (const [nth, one] of of.logs.entries()) {
      fields.mark(`log ${nth}`).hex(one.name).u32(one.length).mark(`log ${nth} seq`).u64(one.seq);
      fields.u16(one.entries).u32(one.deltaBytes);
    }
    entries(fields, of);
    fields.mark('sums').u16(of.sumCount ?? of.sums.length);
    for (const [nth, { name, root, sum }] of of.sums.entries()) {
      fields
        .mark(`sum ${nth}`)
        .u8(name.length / 2)
        .mark(`sum ${nth} name`)
        .hex(name);
      fields.hex(root).u64(sum);
    }
    fields.mark('rest').hex(after);
  });
}

/** Wraps bytes as deflate stores them without shortening: in one block. */
export function stored(bytes) {
  const { length } = bytes;
  return Uint8Array.from([1, ...little(length, 2), ...little(length ^ 0xffff, 2), ...bytes]);
}

/** Makes the deflated part of frames, directories and deltas; `length` may lie. */
export function edits(deflated, length) {
  return hexOf(new Fields().u32(length).hex(hexOf(deflated)).bytes);
}

export function delta({ salt, body }) {
  return object('delta', { salt }, (fields) => fields.mark('body').hex(body));
}

export function history({ salt, pushes, after = '' }) {
  return object('history', { salt }, (fields) => {
    for (const [nth, { seq, nonce }] of pushes.entries()) {
      fields.mark(`push ${nth}`).u64(seq).hex(nonce);
    }
    fields.mark('rest').hex(after);
  });
}

export function record({ salt, collected, marks, count = marks.length, after = '' }) {
  return object('record', { salt }, (fields) => {
    fields.u64(collected).mark('count').u16(count);
    for (const [nth, { name, length, stamp }] of marks.entries()) {
      fields.mark(`mark ${nth}`).hex(name).mark(`mark ${nth} length`).u32(length).u64(stamp);
    }
    fields.mark('rest').hex(after);
  });
}

export function mark({ salt, packs, deltas, packCount = packs.length, after = '' }) {
  return object('mark', { salt }, (fields) => {
    fields.mark('packs').u32(packCount);
    for (const [nth, name] of packs.entries()) fields.mark(`pack ${nth}`).hex(name);
    fields.mark('deltas').u32(deltas.length);
    for (const [nth, name] of deltas.entries()) fields.mark(`delta ${nth}`).hex(name);
    fields.mark('rest').hex(after);
  });
}
