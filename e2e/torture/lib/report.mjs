// What the tortures came to, as one table of counts.

/** The rows of the table for kills and crashes. */
export function killRows(name, tally) {
  const phases = Object.entries(tally.phases).map(([phase, count]) => `${phase} ${count}`);
  return [
    [`${name}: cycles`, tally.cycles, `${tally.version}; ${phases.join(', ')}`],
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

/** The rows of the table for kills in the midst of syncs. */
export function syncRows(name, tally) {
  const list = (counts) => Object.entries(counts).map(([kind, count]) => `${kind} ${count}`);
  const { kills, held, midSync, edits } = tally;
  return [
    [`${name}: kills`, kills, `${tally.version}; ${held} while a request was held`],
    [`${name}: in mid-sync`, midSync, list(tally.during).join(', ')],
    [`${name}: requests under way`, list(tally.requests).join(', ')],
    [`${name}: rounds that ended at one root`, list(tally.rounds).join('; ')],
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

export function quotaRows({ points, roomy, failedIn, places, problems }) {
  const kinds = Object.entries(failedIn).map(([kind, count]) => `${kind} ${count}`);
  return [
    ['quota: disks that were full', points - roomy, kinds.join(', ')],
    ['quota: disks that had room for all', roomy],
    ['quota: different places', places],
    ['quota: problems', problems.length, 'must be 0'],
  ];
}

export function fullRows({ engines }) {
  const list = (counts) => Object.entries(counts).map(([name, count]) => `${name} ${count}`);
  return engines.flatMap((found) => [
    [`full, ${found.engine}: runs`, found.runs, `${found.version}; ${found.kills} killed`],
    [
      `full, ${found.engine}: rows acknowledged and found again`,
      found.acknowledged,
      `${found.refused} changes found no room, the slowest told after ${found.slowestMs} ms; ${found.made} made since`,
    ],
    [`full, ${found.engine}: calls by how they ended`, list(found.codes).join(', ')],
    [`full, ${found.engine}: emptied when full`, list(found.emptied).join(', ')],
    [`full, ${found.engine}: records of ballasts before that`, found.ballasts.join(', ')],
    [`full, ${found.engine}: problems`, found.problems.length, 'must be 0'],
  ]);
}

export function disconnectRows({ runs, steps, losses, codes, problems }) {
  const list = (counts) => Object.entries(counts).map(([name, count]) => `${name} ${count}`);
  return [
    ['disconnect: steps of the workload', steps],
    ['disconnect: runs', runs, list(losses).join(', ')],
    ['disconnect: calls by how they ended', list(codes).join(', ')],
    ['disconnect: problems', problems.length, 'must be 0'],
  ];
}

/** Prints rows of a name, a figure and a remark in columns. */
export function printTable(rows) {
  const width = Math.max(...rows.map(([name]) => name.length));
  for (const [name, figure, remark] of rows) {
    console.log(`${name.padEnd(width)}  ${figure}${remark ? `   (${remark})` : ''}`);
  }
}
