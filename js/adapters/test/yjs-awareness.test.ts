/** Awareness among tabs: the messages that say who is there. */
import { afterEach, describe, expect, it } from 'vitest';
import { Awareness } from 'y-protocols/awareness';
import * as Y from 'yjs';
import { ofKind } from '../../hedgerow/test/support/error-kind.js';
import { shareAwareness } from '../src/yjs-awareness.js';

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

function tab(channel: string, name?: string) {
  const awareness = new Awareness(new Y.Doc());
  awareness.setLocalState(name === undefined ? null : { name });
  const stop = shareAwareness(awareness, channel);
  ends.push(() => {
    stop();
    awareness.destroy();
  });
  const names = () => [...awareness.getStates().values()].map((state) => state.name).sort();
  return { awareness, stop, names };
}

describe('awareness', () => {
  it('is shared by tabs, also later ones, and ends with them', async () => {
    const [one, two] = [tab('room', 'one'), tab('room', 'two')];
    await expect
      .poll(() => [one.names(), two.names()])
      .toEqual([
        ['one', 'two'],
        ['one', 'two'],
      ]);
    const three = tab('room', 'three');
    await expect.poll(three.names).toEqual(['one', 'three', 'two']);
    two.awareness.setLocalStateField('name', 'zwei');
    await expect.poll(three.names).toEqual(['one', 'three', 'zwei']);
    one.stop();
    one.stop();
    await expect.poll(three.names).toEqual(['three', 'zwei']);
    // It hears no more messages either.
    three.awareness.setLocalStateField('name', 'drei');
    await expect.poll(two.names).toEqual(['drei', 'zwei']);
    expect(one.names()).not.toContain('drei');
    two.awareness.destroy();
    await expect.poll(three.names).toEqual(['drei']);
  });

  it('is not shared with other channels, and a tab that shows no state is absent', async () => {
    const [one, other, quiet] = [tab('a', 'one'), tab('b', 'other'), tab('a')];
    await expect.poll(quiet.names).toEqual(['one']);
    expect(one.names()).toEqual(['one']);
    expect(other.names()).toEqual(['other']);
  });

  it('ignores messages of others on a channel of that name', async () => {
    const [one, two] = [tab('room', 'one'), tab('room', 'two')];
    await expect.poll(one.names).toEqual(['one', 'two']);
    const heard: unknown[] = [];
    const other = new BroadcastChannel('room');
    ends.push(() => other.close());
    other.onmessage = ({ data }) => heard.push(data);
    // Other providers send a message of a kind, not a list of clients.
    other.postMessage(Uint8Array.of(1, 9, 9, 9, 9));
    two.awareness.setLocalStateField('name', 'zwei');
    await expect.poll(one.names).toEqual(['one', 'zwei']);
    expect(heard).toEqual([]);
  });

  it('needs the name of a channel', () => {
    const awareness = new Awareness(new Y.Doc());
    ends.push(() => awareness.destroy());
    expect(() => shareAwareness(awareness, 5 as never)).toThrow(
      expect.objectContaining(ofKind('invalid-argument')),
    );
  });
});
