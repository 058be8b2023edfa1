// Builds the objects of a remote byte by byte, from `docs/format.md` alone: it shares no code with the package, so that
// the vectors that it makes are a second opinion.

/** CRC-32, bit by bit. */
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

/** Fields one after the other, and where the marked ones begin. */
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

const MAGICS = { repository: 'HDGC', head: 'HDGR', log: 'HDGL', pack: 'HDGP', delta: 'HDGE' };

/** An object, and the marks of its body. `change` may alter the bytes before they are sealed. */
export function object(kind, { salt, version = 1, suite = 0, reserved = 0 }, writeBody) {
  const fields = new Fields();
  for (const letter of MAGICS[kind]) fields.u8(letter.charCodeAt(0));
  fields
    .mark('version')
    .u8(version)
    .mark('suite')
    .u8(suite)
    .mark('reserved')
    .u16(reserved)
    .hex(salt);
  writeBody(fields);
  const { bytes } = fields;
  const sealed = [...bytes.slice(0, 24), ...little(0, 4), ...little(1, 4), ...bytes.slice(24)];
  fields.mark('seal').u32(crc32(sealed)).mark('end');
  return { bytes: Uint8Array.from(fields.bytes), marks: fields.marks };
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
  const { nonce, version, suite, reserved, after = '' } = of;
  return object('head', { salt: nonce, version, suite, reserved }, (fields) => {
    fields
      .hex(of.repository)
      .mark('seq')
      .u64(of.seq)
      .hex(of.writer)
      .mark('previous')
      .hex(of.previous);
    fields.mark('app').u32(of.app).mark('flags').u32(of.flags);
    rows(fields, 'rows', of.rows);
    fields.mark('checkpoint').u64(of.checkpoint.seq).mark('generations');
    fields.u16(of.checkpoint.generations.length);
    let packs = 0;
    for (const [nth, one] of of.checkpoint.generations.entries()) {
      fields.mark(`generation ${nth}`).u64(one.seq);
      rows(fields, `generation ${nth} rows`, one.rows);
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
    fields.mark('retired').u16(of.retiredCount ?? of.retired.length);
    for (const [nth, one] of of.retired.entries()) {
      fields.mark(`retired ${nth}`).u8(one.folder).mark(`retired ${nth} name`).hex(one.name);
      fields.u64(one.seq).mark(`retired ${nth} stamp`).u64(one.stamp);
    }
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

/** Bytes as deflate stores them without shortening them: in one block. */
export function stored(bytes) {
  const { length } = bytes;
  return Uint8Array.from([1, ...little(length, 2), ...little(length ^ 0xffff, 2), ...bytes]);
}

/** Edits, as a pack and a delta have them; `length` may lie. */
export function edits(deflated, length) {
  return hexOf(new Fields().u32(length).hex(hexOf(deflated)).bytes);
}

/** Frames, as a pack has them, one after the other; `count` and `lengths` may lie. */
export function pack({ salt, frames, count = frames.length, lengths, after = '' }) {
  return object('pack', { salt }, (fields) => {
    fields.mark('frames').u16(count);
    const told = lengths ?? frames.map(({ length }) => length / 2);
    for (const [nth, length] of told.entries()) fields.mark(`length ${nth}`).u32(length);
    for (const [nth, frame] of frames.entries()) fields.mark(`frame ${nth}`).hex(frame);
    fields.mark('rest').hex(after);
  });
}

export function delta({ salt, body }) {
  return object('delta', { salt }, (fields) => fields.mark('body').hex(body));
}
