/** `hedgerow/encryption`: keys, which seal stores where they are kept, and seal and sign the objects of remotes. */

export type { RemoteEncryption } from '../remote/format/cipher-suite.js';
export type { AtRestKey } from './at-rest/app-key.js';
export { atRest } from './at-rest/at-rest.js';
export { type RotateOptions, rotateKey } from './at-rest/rotate.js';
export { type PrivateKey, type PublicKey, type SigningKeys, signingKeys } from './ed25519.js';
export { generateKey, importKey, type RootKey } from './hkdf.js';
export { passphraseKey } from './passphrase.js';
export { type RemoteKeysOptions, remoteKeys } from './remote-keys.js';
export { type SignedRemoteOptions, signedRemote } from './signed-remote.js';
