// Writes `vectors/remote/signed.json`, signed heads, and heads that must be refused: `node scripts/vectors/signed-vectors.mjs`.
// The bytes follow `docs/format.md` alone, and OpenSSL signs them; the script uses no code of the package.

import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Fields, head, hexOf, record, sealed } from '../lib/remote-objects.mjs';
import { FIRST, FULL, flipped, hash, RECORD } from '../lib/remote-samples.mjs';
import { ROOT } from '../lib/run.mjs';

const utf8 = (text) => hexOf(Buffer.from(text));

/** Makes a private key of OpenSSL from its 32 bytes: RFC 8410 has the bytes of PKCS #8 before them. */
const keyOf = (name) =>
  createPrivateKey({
    key: Buffer.from(`302e020100300506032b657004220420${hash(name)}`, 'hex'),
    ...{ format: 'der', type: 'pkcs8' },
  });

const publicOf = (name) => {
  const { x } = createPublicKey(keyOf(name)).export({ format: 'jwk' });
  return hexOf(Buffer.from(x, 'base64url'));
};

/** Makes the first bytes of a trailer. */
const front = ({ magic = 'HDGS', version = 1, zeros = 0 } = {}) =>
  new Fields().hex(utf8(magic)).u8(version).u8(zeros).u16(0);

/** Signs a head. */
function signatureOf(bytes, { key = 'key', branch = 'main', place = '', purpose, ...of } = {}) {
  const fields = front(of);
  for (const text of [place, branch]) fields.u32(Buffer.byteLength(text)).hex(utf8(text));
  fields.hex(hexOf(bytes));
  const digest = createHash('sha512').update(Uint8Array.from(fields.bytes)).digest();
  const message = Buffer.concat([Buffer.from(purpose ?? 'hedgerow signed head'), digest]);
  return sign(null, message, keyOf(key));
}

const signed = (bytes, of) =>
  Uint8Array.from([...bytes, ...front(of).bytes, ...signatureOf(bytes, of)]);

const FIRST_BYTES = head(FIRST).bytes;
const BYTES = head(FULL).bytes;
const RECORD_BYTES = record(RECORD).bytes;
const SEALING = { key: hash('key 1'), epoch: 1, context: utf8('main') };
const SEALED_BYTES = sealed('head', SEALING, head(FULL)).bytes;

/** Name, head, and its key, branch and place if they are special. */
const valid = [
  ['the first head', FIRST_BYTES, {}],
  ['a full head', BYTES, {}],
  ['of another key', BYTES, { key: 'other' }],
  ['of a branch whose name is not ASCII', BYTES, { branch: 'Größe/ü 🌿' }],
  ['of a place', BYTES, { place: 'rooms/7' }],
  ['the record of collections', RECORD_BYTES, { branch: '~collection', place: 'rooms/7' }],
  ['that is encrypted', SEALED_BYTES, {}],
  ['without bytes', new Uint8Array(), {}],
];

const GOOD = signed(BYTES);
const END = BYTES.length;

/**
 * Name, bytes, and the place of the fault; without a place the format is not supported. All are read as heads of
 * `main`.
 */
const refused = [
  ['nothing', new Uint8Array(), 0],
  ['without a signature', BYTES, END - 72],
  ['cut off by a byte', GOOD.slice(0, -1), END - 1],
  ['cut off within its trailer', GOOD.slice(0, -65), END - 65],
  ['cut off before it', GOOD.slice(0, 40), 0],
  ['with a byte more', Uint8Array.from([...GOOD, 0]), END + 1],
  ['with another magic', signed(BYTES, { magic: 'HDGR' }), END],
  ['of version 0', signed(BYTES, { version: 0 }), END + 4],
  ['of version 2', signed(BYTES, { version: 2 }), undefined],
  ['whose reserved bytes are not zero', signed(BYTES, { zeros: 1 }), END + 5],
  ['with a bit of the head that is another', flipped(GOOD, 9), END],
  ['with a bit of the signature that is another', flipped(GOOD, GOOD.length - 20), END],
  ['of another key', signed(BYTES, { key: 'other' }), END],
  ['of another branch', signed(BYTES, { branch: 'Main' }), END],
  ['of another place', signed(BYTES, { place: 'rooms/7' }), END],
  ['of a place that ends as this branch begins', signed(BYTES, { place: 'ma', branch: 'in' }), END],
  ['for another purpose', signed(BYTES, { purpose: 'hedgerow signed pack' }), END],
  [
    'with the signature of another head',
    Uint8Array.from([...FIRST_BYTES, ...GOOD.slice(END)]),
    FIRST_BYTES.length,
  ],
  ['that is signed twice', signed(GOOD, { key: 'other' }), GOOD.length],
  [
    'of its bytes alone',
    Uint8Array.from([...BYTES, ...front().bytes, ...sign(null, BYTES, keyOf('key'))]),
    END,
  ],
];

/** Returns the vectors, as text. */
export function signedText() {
  const keys = Object.fromEntries(
    ['key', 'other'].map((name) => [name, { private: hash(name), public: publicOf(name) }]),
  );
  const heads = valid.map(([name, bytes, { key = 'key', branch = 'main', place = '' }]) => ({
    ...{ name, key, branch, place, head: hexOf(bytes) },
    bytes: hexOf(signed(bytes, { key, branch, place })),
  }));
  const faults = refused.map(([name, bytes, offset]) => ({
    ...{ name, bytes: hexOf(bytes) },
    code: offset === undefined ? 'newer-version/format' : 'remote/data',
    ...(offset !== undefined && { offset }),
  }));
  return `${JSON.stringify({ keys, heads, refused: faults }, undefined, 2)}\n`;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  writeFileSync(join(ROOT, 'vectors', 'remote', 'signed.json'), signedText());
}
