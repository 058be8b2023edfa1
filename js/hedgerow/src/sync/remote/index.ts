/** The places where the copies of a store meet, and a check whether a place is fit for that. */
export { type HttpRemoteOptions, httpRemote } from './adapters/http-remote.js';
export { memoryRemote } from './adapters/memory-remote.js';
export { hashedName } from './hashed-name.js';
export { headName, type ParsedName, parseName } from './object-names.js';
export { probeRemote } from './probe-swap-safety.js';
export type {
  ByteRange,
  ListPrefix,
  ReadHeadOptions,
  Remote,
  RemoteHead,
  RemoteObject,
  RemoteOptions,
  Swap,
} from './remote.js';
export { type PokesOptions, serverPokes } from './server-pokes.js';
