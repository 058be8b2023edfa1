/**
 * Makes the rows of the shared list. Plain JavaScript, since `remote.mjs` fills the server with them in Node, and the
 * pages show them.
 */
import { rowType, table } from 'hedgerow';

/** @typedef {import('./device-messages.js').Task} Task */

/** The states of a task, in their order. */
export const STATES = /** @type {const} */ (['open', 'doing', 'done']);

/** The fields of a row that can be edited, in the order in which they are shown. */
export const FIELDS = /** @type {const} */ (['title', 'status', 'minutes']);

export const TASKS = 2400;

export const tasks = table({
  schema: /** @type {typeof rowType<Task>} */ (rowType)(),
  key: ['number'],
});

const VERBS =
  'Trim,Water,Mulch,Stake,Prune,Weed around,Inspect,Feed,Photograph,Label,Net,Move,Clear,Edge,Sow,Thin';
const PLANTS =
  'hawthorn,blackthorn,hazel,dog rose,field maple,holly,hornbeam,spindle,elder,guelder rose,yew,beech,willow,bramble,honeysuckle,crab apple,wild pear,privet';
const PLACES =
  'by the gate,along the lane,at the pond,behind the barn,near the bridge,on the bank,by the orchard,below the church,next to the hives,at the stile,by the ditch,in the meadow';

/**
 * Returns the task with a number, from 1, as the server has it at first: always the same.
 *
 * @param {number} number
 * @returns {Task}
 */
export function taskOf(number) {
  const pick = (/** @type {string} */ words, /** @type {number} */ by) => {
    const list = words.split(',');
    return list[Math.floor((number * by) % list.length)] ?? '';
  };
  const title = `${pick(VERBS, 5.1)} the ${pick(PLANTS, 7.3)} ${pick(PLACES, 3.7)}`;
  // Mixed, so that their map has no stripes.
  const mixed = Math.imul(number ^ (number >>> 3), 0x9e3779b1) >>> 16;
  const status = STATES[[0, 0, 1, 0, 2, 0, 0, 0, 2][mixed % 9] ?? 0] ?? 'open';
  return { number, title, status, minutes: 5 * (1 + ((number * 11) % 24)) };
}

/** Returns all tasks. */
export function allTasks() {
  return Array.from({ length: TASKS }, (_, index) => taskOf(index + 1));
}
