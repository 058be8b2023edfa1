// `node scripts/draw-rooms.mjs`: draws the rooms of `js/hedgerow/src` by their imports, in `docs/architecture.md`. With
// `--check` it writes no file, and exits with 1 if the picture is out of date. Prints how many folders are rooms, how many
// floors they make, and how many of them import another.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TYPESCRIPT_LAYERS } from './check-layers.mjs';
import { typeScriptNames } from './lib/layers.mjs';
import { CommandFailed, ROOT, runMain } from './lib/run.mjs';

const PAGE = join(ROOT, 'docs', 'architecture.md');
const BEGIN = '<!-- rooms: drawn by scripts/draw-rooms.mjs -->\n';
const END = '<!-- rooms: end -->\n';

const roomOf = (file) => (file.includes('/') ? file.slice(0, file.indexOf('/')) : file);

/** Returns the rooms that each room imports. */
function namedRooms(files) {
  const named = new Map();
  for (const [file, names] of files) {
    const own = named.get(roomOf(file)) ?? new Set();
    for (const name of names) if (roomOf(name) !== roomOf(file)) own.add(roomOf(name));
    named.set(roomOf(file), own);
  }
  return named;
}

/** Whether `from` imports `to` through another room. */
function isReached(named, from, to) {
  const reaches = (room) => room === to || [...(named.get(room) ?? [])].some(reaches);
  return [...named.get(from)].some((room) => room !== to && reaches(room));
}

/** Draws the rooms as a Mermaid graph, without imports that exist through another room. */
export function drawn(files) {
  const named = namedRooms(files);
  const rooms = new Set(TYPESCRIPT_LAYERS.flat(2).map(roomOf));
  const lines = [...rooms]
    .filter((room) => named.has(room))
    .toReversed()
    .flatMap((room) =>
      [...named.get(room)]
        .filter((other) => !isReached(named, room, other))
        .sort()
        .map((other) => `  ${room} --> ${other}`),
    );
  return ['```mermaid', 'graph TD', ...lines, '```', ''].join('\n');
}

/** Returns the number of rooms that are folders, of their floors, and of the imports between two of them. */
export function countRooms(files) {
  const named = namedRooms([...files].filter(([file]) => file.includes('/')));
  const floorOf = (room) => 1 + Math.max(0, ...[...(named.get(room) ?? [])].map(floorOf));
  const floors = Math.max(...[...named.keys()].map(floorOf));
  const arrows = [...named.values()].reduce((sum, { size }) => sum + size, 0);
  return { rooms: named.size, floors, arrows };
}

function main() {
  const page = readFileSync(PAGE, 'utf8');
  const [before, rest] = page.split(BEGIN);
  const after = rest?.split(END)[1];
  if (after === undefined)
    throw new CommandFailed('docs/architecture.md has no place for the rooms');
  const files = typeScriptNames(join(ROOT, 'js', 'hedgerow', 'src'));
  const { rooms, floors, arrows } = countRooms(files);
  console.log(`${rooms} rooms on ${floors} floors, ${arrows} arrows`);
  const wanted = `${before}${BEGIN}\n${drawn(files)}\n${END}${after}`;
  if (process.argv.includes('--check')) {
    if (wanted === page) return;
    throw new CommandFailed('the rooms have changed: node scripts/draw-rooms.mjs');
  }
  writeFileSync(PAGE, wanted);
}

await runMain(main);
