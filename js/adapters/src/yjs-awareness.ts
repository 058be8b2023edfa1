/** Shares the awareness of Yjs among the tabs of a browser. */

import { checkHas, HedgerowError, isByteArray, kindOf } from 'hedgerow/kit';
import {
  type Awareness,
  applyAwarenessUpdate,
  encodeAwarenessUpdate,
  removeAwarenessStates,
} from 'y-protocols/awareness';

interface AwarenessChange {
  readonly added: number[];
  readonly updated: number[];
  readonly removed: number[];
}

/**
 * Shares awareness states by messages with all tabs that name the same `channel`. Returns a function that stops this;
 * the other tabs then know that this one has left. Shares no states where there is no `BroadcastChannel`.
 */
export function shareAwareness(awareness: Awareness, channel: string): () => void {
  const names = 'on off getLocalState';
  checkHas('shareAwareness', awareness, names, 'an Awareness of y-protocols');
  if (typeof channel !== 'string') {
    const what = `shareAwareness takes the name of a channel, not ${kindOf(channel)}`;
    throw new HedgerowError('invalid-argument', what);
  }
  if (typeof BroadcastChannel !== 'function') return () => {};
  // Other providers send their own messages in channels with the name of the document.
  const tabs = new BroadcastChannel(`hedgerow/awareness/${channel}`);
  const tell = (clients: number[]) => tabs.postMessage(encodeAwarenessUpdate(awareness, clients));
  const tellOwn = () => {
    if (awareness.getLocalState() !== null) tell([awareness.clientID]);
  };
  const onUpdate = ({ added, updated, removed }: AwarenessChange, origin: unknown) => {
    // The other tabs know an update that came by the channel.
    if (origin !== tabs) tell([...added, ...updated, ...removed]);
  };
  tabs.onmessage = ({ data }: MessageEvent<unknown>) => {
    if (isByteArray(data)) applyAwarenessUpdate(awareness, data, tabs);
    // A new tab asks for the states of the others.
    else if (data === 'who') tellOwn();
  };
  awareness.on('update', onUpdate);
  tabs.postMessage('who');
  tellOwn();

  let isOver = false;
  const stop = () => {
    if (isOver) return;
    isOver = true;
    awareness.off('destroy', stop);
    removeAwarenessStates(awareness, [awareness.clientID], 'gone');
    awareness.off('update', onUpdate);
    tabs.close();
  };
  awareness.on('destroy', stop);
  return stop;
}
