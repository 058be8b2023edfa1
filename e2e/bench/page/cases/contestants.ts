/** Makes contestants of the peers: everyone goes through the same acts. */
import type { Contestant, Samples, Setting } from '../bench-case.js';
import type { Peer } from '../peers/database.js';
import { HEDGEROW, PEERS } from '../peers/index.js';

export type PeerAct = (peer: Peer, setting: Setting) => Promise<Samples>;

export function contestantOf(peer: Peer, acts: readonly PeerAct[]): Contestant {
  const { name, kind, note, cannot, most } = peer;
  const missing = peer.missing?.();
  return {
    name,
    kind,
    ...(note === undefined ? {} : { note }),
    ...(cannot === undefined ? {} : { cannot }),
    ...(most === undefined ? {} : { most }),
    ...(missing === undefined ? {} : { missing }),
    acts: acts.map((act) => (setting) => act(peer, setting)),
  };
}

/** Hedgerow, the floor where there is one, and all peers. */
export function everyone(acts: readonly PeerAct[], floor?: Contestant): readonly Contestant[] {
  return [
    contestantOf(HEDGEROW, acts),
    ...(floor === undefined ? [] : [floor]),
    ...PEERS.map((peer) => contestantOf(peer, acts)),
  ];
}
