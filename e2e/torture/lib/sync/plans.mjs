// Plans the kills from the seed.

import { below } from '../random.mjs';

/** The phases of a round, one after the other on one profile: a kill in each. */
export const PHASES = ['clone', 'push', 'push', 'pull', 'checkpoint'];

/** The latest kill after a call, in milliseconds. */
const LONGEST_MS = { clone: 900, read: 300, push: 160, pull: 160, checkpoint: 1500 };

/** The requests of a phase that may be held, and the highest number to hold. */
const HELD = {
  clone: [[['get pack'], 5]],
  read: [[['get pack'], 12]],
  // The answer of a swap decides. A push that loses a race gets the head with that answer, and does not read it.
  push: [[['swap head'], 5]],
  pull: [
    [['get delta'], 3],
    [['read head'], 8],
  ],
  checkpoint: [
    [['put pack'], 5],
    [['swap head'], 2],
  ],
};
/** The call of a phase, and its number, at which the kill comes if the request to hold has not come: a clone may need fewer packs. */
const LATEST = {
  clone: ['pull', 20],
  read: ['read', 100],
  push: ['push', 100],
  pull: ['pull', 100],
  checkpoint: ['push', 20],
};
const CALLS = { clone: 'clone', read: 'read', push: 'push', pull: 'pull', checkpoint: 'push' };

const pick = (random, list) => list[below(random, list.length)];

/** Plans a round; half of them are encrypted, and half of each kind lazy. */
export function roundOf(nth, random) {
  const isLazy = nth % 2 === 1;
  const isEncrypted = nth % 4 === 1 || nth % 4 === 2;
  const policy = pick(random, ['fields', 'remote', 'local']);
  const kind = `${isLazy ? 'lazy' : 'whole'}, ${isEncrypted ? 'encrypted' : 'plain'}`;
  return { nth, isLazy, isEncrypted, policy, kind, seed: below(random, 2 ** 31) };
}

/**
 * Plans the kill of the phase `at` of a round: while a certain request is held, before it takes effect or after, or a
 * while after a call began; these take turns.
 */
export function killOf({ nth, isLazy }, at, random) {
  const phase = PHASES[at];
  const what = phase === 'clone' && isLazy ? 'read' : phase;
  const isHeld = (at + (nth >> 2) + nth) % 2 === 0;
  if (isHeld) {
    const [kinds, most] = pick(random, HELD[what]);
    const hold = { kinds, nth: 1 + below(random, most), isDone: below(random, 2) === 0 };
    // A sent request may take effect when its sender is gone.
    const about = { delayMs: below(random, 100), takesEffect: below(random, 2) === 0 };
    return { hold, latest: LATEST[what], ...about };
  }
  const nthCall = what === 'clone' ? 1 : 1 + below(random, 4);
  return { call: [CALLS[what], nthCall], delayMs: below(random, LONGEST_MS[what]) };
}

/** Describes the moment, for the messages of problems. */
export function toldKill({ hold, call, delayMs }) {
  const [name, nth] = call ?? [hold.kinds.join(' or '), hold.nth];
  const when = hold === undefined ? 'begun' : hold.isDone ? 'answered' : 'asked';
  return `${name} ${nth} ${when}, ${delayMs} ms`;
}
