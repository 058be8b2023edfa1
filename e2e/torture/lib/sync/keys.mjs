// The keys of the rows of both devices.

/** Rows that both devices edit. */
export const SHARED_KEYS = 8;
export const SHARED = 'shared/';
/** Rows that the remote begins with. */
export const BASE = 'base/';

export const numbered = (prefix, nth) => prefix + String(nth).padStart(7, '0');
