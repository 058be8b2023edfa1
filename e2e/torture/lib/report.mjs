// Writes the results of the tortures as one table of counts.

/** Writes counts by name, as one text. */
const listed = (counts) =>
  Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');

/** Returns the rows of the table for kills and crashes. */
export function killRows(name, tally) {
  return [
    [`${name}: cycles`, tally.cycles, `${tally.version}; ${listed(tally.phases)}`],
    [
      `${name}: in mid-commit, in mid-collection`,
      `${tally.midCommit}, ${tally.midCollection}`,
      `${tally.debris} left segments and no row`,
    ],
    [
      `${name}: acknowledged commits`,
      tally.acknowledged,
      `${tally.unheard} more were there, unheard`,
    ],
    [`${name}: lost by Hedgerow, by the control`, `${tally.lost.hedgerow}, ${tally.lost.control}`],
    [`${name}: lost more than the control`, tally.lostMore, 'must be 0'],
    [
      `${name}: torn states, of the control`,
      `${tally.torn.hedgerow}, ${tally.torn.control}`,
      'must be 0',
    ],
    [
      `${name}: origin wiped by the browser`,
      tally.wiped.length,
      `${tally.refusals.length} openings refused; both databases gone`,
    ],
    [`${name}: checks made again after a trap of the core`, tally.traps.length],
    [`${name}: problems`, tally.blamed.length, 'must be 0'],
  ];
}

/** Returns the rows of the table for kills during syncs. */
export function syncRows(name, tally) {
  const { kills, held, midSync, edits } = tally;
  return [
    [`${name}: kills`, kills, `${tally.version}; ${held} while a request was held`],
    [`${name}: in mid-sync`, midSync, listed(tally.during)],
    [`${name}: requests under way`, listed(tally.requests)],
    [`${name}: rounds that ended at one root`, listed(tally.rounds)],
    [
      `${name}: edits acknowledged`,
      edits.page,
      `${edits.other} of the other device; ${tally.conflicts} conflicts told`,
    ],
    [`${name}: edits lost by the control`, tally.lostByControl],
    [`${name}: looks made again after a trap of the core`, tally.traps.length],
    [`${name}: origin wiped by the browser`, tally.wiped.length],
    [`${name}: problems`, tally.problems.length, 'must be 0'],
  ];
}

export function quotaRows(name, { version, points, roomy, failedIn, places, problems }) {
  return [
    [`${name}: disks that were full`, points - roomy, `${version}; ${listed(failedIn)}`],
    [`${name}: disks that had room for all`, roomy],
    [`${name}: different places`, places],
    [`${name}: problems`, problems.length, 'must be 0'],
  ];
}

export function fullRows(name, found) {
  return [
    [`${name}: runs`, found.runs, `${found.version}; ${found.kills} killed`],
    [
      `${name}: rows acknowledged and found again`,
      found.acknowledged,
      `${found.refused} changes found no room, the slowest told after ${found.slowestMs} ms; ${found.made} made since`,
    ],
    [`${name}: calls by how they ended`, listed(found.codes)],
    [`${name}: emptied when full`, listed(found.emptied)],
    [`${name}: records of ballasts before that`, found.ballasts.join(', ')],
    [`${name}: problems`, found.problems.length, 'must be 0'],
  ];
}

export function disconnectRows(name, { version, runs, steps, ways, codes, problems }) {
  return [
    [`${name}: steps of the workload`, steps, version],
    [`${name}: runs`, runs, listed(ways)],
    [`${name}: calls by how they ended`, listed(codes)],
    [`${name}: problems`, problems.length, 'must be 0'],
  ];
}

/** Prints rows of a name, a figure and a remark in columns. */
export function printTable(rows) {
  const width = Math.max(...rows.map(([name]) => name.length));
  for (const [name, figure, remark] of rows) {
    console.log(`${name.padEnd(width)}  ${figure}${remark ? `   (${remark})` : ''}`);
  }
}
