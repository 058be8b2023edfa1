/** Makes contestants of the peers: all go through the same acts. */
import type { Contestant, Samples, Setting } from '../bench-case.js';
import { type Peer, RELAXED, within } from '../peers/database.js';
import { HEDGEROW, PEERS } from '../peers/index.js';
import { makeRows } from '../rows.js';

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

/** Returns Hedgerow, the floor where there is one, and all peers. */
export function everyone(acts: readonly PeerAct[], floor?: Contestant): readonly Contestant[] {
  return [
    contestantOf(HEDGEROW, acts),
    ...(floor === undefined ? [] : [floor]),
    ...PEERS.map((peer) => contestantOf(peer, acts)),
  ];
}

/** The peers that store rows one by one and read a million of them without taking minutes. */
const LARGE = ['IndexedDB', 'idb', 'Dexie', 'sqlite-wasm OPFS', 'sqlite-wasm OPFS, WAL'];

/** Loads all rows. */
export async function fill(peer: Peer, { rows }: Setting): Promise<Samples> {
  await within(peer, RELAXED, (db) => db.load(makeRows(rows)));
  return {};
}

/**
 * Returns Hedgerow, and the peers that take a million rows: all load them first, whatever a peer's limit is elsewhere.
 */
export function withManyRows(acts: readonly PeerAct[]): readonly Contestant[] {
  return [HEDGEROW, ...PEERS.filter(({ name }) => LARGE.includes(name))].map((peer) => {
    const { most, ...contestant } = contestantOf(peer, [fill, ...acts]);
    return contestant;
  });
}
