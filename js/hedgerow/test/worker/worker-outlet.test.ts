/** Parts that leave before they are full, for a page that does not take them. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { ListSender, never, ofStore } from '../../src/worker/host/list-batch-sender.js';
import { type Message, PART_MEMBERS, PARTS_AHEAD } from '../../src/worker/protocol.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('a slow source sends few parts ahead, too, and loses no members', async () => {
  const sent: Message[] = [];
  const outlet = new ListSender(1, (message) => void sent.push(message), never);
  const members = () => sent.flatMap(([, , part]) => part as number[]);
  let n = 0;
  for (; n < 20; n++) {
    expect(outlet.add(n)).toBeUndefined();
    vi.advanceTimersByTime(10);
  }
  expect(members()).toEqual([0, 1, 2, 3]);
  expect(sent).toHaveLength(PARTS_AHEAD);
  // The waiting members leave after the next part is taken.
  outlet.resumeAfterPart();
  expect(members()).toHaveLength(20);
  expect(sent).toHaveLength(PARTS_AHEAD + 1);
  let wait: Promise<void> | undefined;
  for (; n < 20 + PART_MEMBERS; n++) wait = outlet.add(n);
  // The full part waits, too.
  expect(wait).toBeInstanceOf(Promise);
  expect(sent).toHaveLength(PARTS_AHEAD + 1);
  for (let part = 0; part < sent.length; part++) outlet.resumeAfterPart();
  await wait;
  outlet.add(n);
  vi.advanceTimersByTime(10);
  expect(members()).toEqual(Array.from({ length: n + 1 }, (_, at) => at));
});

it('members of alternating kinds wait for the page, too', () => {
  const parts: unknown[] = [];
  const list = new ListSender(1, (message) => parts.push(message), ofStore);
  let wait: Promise<void> | undefined;
  for (let member = 0; wait === undefined && member < 100; member++) {
    wait = list.add(member % 2 === 0 ? member : new Uint8Array(1));
  }
  expect(wait).toBeInstanceOf(Promise);
  expect(parts).toHaveLength(PARTS_AHEAD);
});
