// A table of issues in two versions, for measurements and for processes that are killed: version 2 renames `status` to
// `state` and adds `urgent`.

/** Returns row `index` of version 1: about 150 bytes, with an id that does not compress. */
export function oldIssue(index) {
  const id = Math.imul(index + 1, 0x9e3779b1) >>> 0;
  return {
    id: String(index).padStart(8, '0'),
    title: `The quick brown fox jumps over issue ${id.toString(36)}`,
    status: id % 3 === 0 ? 'open' : 'closed',
    priority: id % 5,
    owner: `user${id % 97}`,
    modified: 1_700_000_000_000 + id,
  };
}

export function migrateIssue({ status, ...row }) {
  return { ...row, state: status, urgent: row.priority === 4 };
}

/** Returns `oldIssue(index)` in version 2. */
export const newIssue = (index) => migrateIssue(oldIssue(index));

export const oldIssues = (table) =>
  table({ key: 'id', indexes: { byStatus: ['status', 'modified'], byOwner: ['owner'] } });

export const newIssues = (table) =>
  table({
    key: 'id',
    indexes: { byState: ['state', 'modified'], byOwner: ['owner'] },
    version: 2,
    migrate: migrateIssue,
  });

export function* oldRows(count) {
  for (let index = 0; index < count; index++) yield oldIssue(index);
}
