// Checks sizes for `headless.mjs`: packed and unpacked bytes are kept apart, and no figure on the page is below zero.

const sumOf = (levels, name) => levels.reduce((sum, level) => sum + level[name], 0);

/** Sums the stored bytes of the tree of rows. */
export const packedBytes = (levels) => sumOf(levels, 'storedBytes');

/** Checks the sizes of a store of rows alone. */
export function checkSizes({ levels, liveBytes, storedBytes, segments, memoryBytes }, tools) {
  const { say, check, bytes, count } = tools;
  const [packed, unpacked] = [packedBytes(levels), sumOf(levels, 'bytes')];
  check(segments > 0, `${segments} segments are stored`);
  say('stored, packed', `${bytes(storedBytes)} in ${count(segments)} segments`);
  say('  of these live', bytes(liveBytes));
  say('  nodes, packed', bytes(packed));
  say('  nodes, unpacked', bytes(unpacked));
  say('linear memory', bytes(memoryBytes));
  check(levels[0]?.nodes === 1, `${levels[0]?.nodes} nodes are the root`);
  for (const { level, nodes, bytes: all, storedBytes: stored, minBytes, maxBytes } of levels) {
    const isWithin = minBytes > 0 && nodes * minBytes <= all && all <= nodes * maxBytes;
    check(nodes > 0 && isWithin, `level ${level}: ${nodes} nodes have ${all} bytes`);
    check(stored > 0, `level ${level} is stored in ${stored} bytes`);
  }
  check(packed < unpacked, `${unpacked} bytes are packed to ${packed}`);
  check(packed <= liveBytes, `${packed} bytes of nodes are more than ${liveBytes} live ones`);
  check(liveBytes <= storedBytes, `${liveBytes} live bytes are more than ${storedBytes} stored`);
}

/** Checks the sizes of indexes: all live bytes outside the tree of rows, whose size another handle has counted. */
export function checkIndexSizes({ bytes, liveBytes }, levels, { check }) {
  check(bytes > 0 && bytes < liveBytes, `the indexes have ${bytes} of ${liveBytes} bytes`);
  const rows = packedBytes(levels);
  check(bytes + rows === liveBytes, `${bytes} of indexes and ${rows} of rows are not ${liveBytes}`);
}

/** Checks that no shown size or time is below zero or missing. */
export async function checkShown(page, { check }) {
  const text = await page.evaluate(() => document.body.innerText);
  const found = text.match(
    /(?:[-−]\d[\d.,]*|NaN|undefined|Infinity) ?(?:B|kB|MB|ms|µs|s|rows?)\b/g,
  );
  check(found === null, `the page shows ${found?.join(', ')}`);
}
