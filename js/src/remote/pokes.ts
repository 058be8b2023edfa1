import { HedgerowError } from '../base/errors.js';
import { kindOf } from '../base/kind.js';

/** The part of `EventSource` that is used. */
interface Events {
  onmessage: (() => void) | null;
  close(): void;
}

/**
 * News of the reference server at `url`, that of `httpRemote`, by server-sent events, for `link.sync({ pokes })`. The browser connects again by
 * itself. An `EventSource` sends no token: the server must allow reads without one. Throws
 * `unsupported` where there is no `EventSource`.
 */
export function serverPokes(url: string): (poke: () => void) => () => void {
  if (typeof url !== 'string') {
    throw new HedgerowError('invalid-argument', `serverPokes takes an address, not ${kindOf(url)}`);
  }
  const { EventSource } = globalThis as unknown as {
    EventSource?: new (url: string) => Events;
  };
  if (EventSource === undefined) {
    throw new HedgerowError('unsupported', 'there is no EventSource here: poke the loop yourself');
  }
  return (poke) => {
    const events = new EventSource(`${url}${url.endsWith('/') ? '' : '/'}events`);
    events.onmessage = () => poke();
    return () => events.close();
  };
}
