/** Keys of signed remotes, the same in each run. */
import { signedRemote } from '../../src/sync/encryption/signed-remote.js';
import type { Remote } from '../../src/sync/remote/index.js';
import { unhex } from './remote-store.js';

/** Tests 3 and 2 of RFC 8032. */
export const PRIVATE = unhex('c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7');
export const PUBLIC = unhex('fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025');
export const OTHER_PRIVATE = unhex(
  '4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb',
);
export const OTHER_PUBLIC = unhex(
  '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
);

/** Returns the signing of a remote's heads; without a private key it only reads. */
export const signedBy =
  (privateKey: Uint8Array | undefined, { place = '', publicKeys = [PUBLIC] } = {}) =>
  (remote: Remote): Remote =>
    signedRemote(remote, { publicKey: publicKeys, privateKey, place });
