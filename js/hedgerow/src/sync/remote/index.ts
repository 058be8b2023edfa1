/** `hedgerow/remote`: the places where the copies of a store meet, and a check whether a place is fit for that. */
export { HedgerowError } from '../../base/errors.js';
export { type HttpRemoteOptions, httpRemote } from './adapters/http.js';
export { memoryRemote } from './adapters/memory-remote.js';
export { hashedName } from './hashed-name.js';
export { headName, type ParsedName, parseName } from './names.js';
export { type PokesOptions, serverPokes } from './pokes.js';
export { probeRemote } from './probe.js';
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
