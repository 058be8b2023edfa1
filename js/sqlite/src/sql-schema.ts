/**
 * The tables of a store in SQLite, and its statements.
 *
 * `segment` and `segment_table` map an id to bytes. `ref` is a journal of the moves of each ref: the last move counts.
 * `counter` has one row: the last number of `reserve`.
 *
 * A batch cannot look and then decide: op-sqlite runs it as one. So if the ref does not stand where expected, a move
 * inserts NULL as its generation, which no row may hold; the statement fails, and with it the transaction. It is the
 * first statement, so that the transaction begins with a write: SQLite refuses writes to a transaction that has read
 * outdated data.
 */
import {
  type Fence,
  type RefDrop,
  type RefMove,
  type SegmentRecord,
  SQL_FORMAT,
} from 'hedgerow/kit';
import type { Statement } from './driver.js';

/** The `PRAGMA application_id`, which other files do not have. */
const APPLICATION_ID = 0x48646772;

/**
 * Overwrites deleted rows. The replaced record of a key is in a ref, and must not stay in the file. `FAST` overwrites
 * no page that becomes free, and the refs in it may stay.
 */
export const OVERWRITE = 'PRAGMA secure_delete = ON';
/** For segments: an overwrite would write all their pages again. */
export const OVERWRITE_LITTLE = 'PRAGMA secure_delete = FAST';

/**
 * The settings of a connection. Larger pages load no faster, and each small commit writes four. The log goes into the
 * file when it has 32 MiB: that flushes both, and so should be rare in a load. Apple's `fsync` does not reach the disk,
 * `fullfsync` does.
 */
export const SETTINGS: readonly string[] = [
  OVERWRITE,
  'PRAGMA page_size = 8192',
  'PRAGMA journal_mode = WAL',
  'PRAGMA wal_autocheckpoint = 4096',
  'PRAGMA journal_size_limit = 4194304',
  'PRAGMA synchronous = NORMAL',
  'PRAGMA fullfsync = ON',
  'PRAGMA checkpoint_fullfsync = ON',
];

export const JOURNAL_MODE = 'SELECT journal_mode FROM pragma_journal_mode';

/** Finds the contents of a file: none, a store that this code knows, or something else. */
export const PROBE_FILE =
  "SELECT (SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'segment_table') AS ours, " +
  '(SELECT count(*) FROM sqlite_master) AS all_of_them, ' +
  '(SELECT application_id FROM pragma_application_id) AS application, ' +
  '(SELECT user_version FROM pragma_user_version) AS version';

/** Reads the row of `PROBE_FILE`. */
export function contents([ours, all, application, version]: readonly unknown[]):
  | 'none'
  | 'store'
  | 'foreign' {
  if (all === 0) return 'none';
  const isOurs = ours === 1 && application === APPLICATION_ID && version === SQL_FORMAT;
  return isOurs ? 'store' : 'foreign';
}

/** Makes the missing tables. */
export const CREATE: readonly Statement[] = [
  [
    'CREATE TABLE IF NOT EXISTS ref (name TEXT NOT NULL, generation INTEGER NOT NULL, ' +
      'format INTEGER NOT NULL, commit_bytes BLOB NOT NULL, PRIMARY KEY (name, generation)) WITHOUT ROWID',
  ],
  ['CREATE TABLE IF NOT EXISTS counter (id INTEGER PRIMARY KEY, last INTEGER NOT NULL)'],
  ['CREATE TABLE IF NOT EXISTS segment (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL)'],
  ['CREATE TABLE IF NOT EXISTS segment_table (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL)'],
  ['INSERT OR IGNORE INTO counter (id, last) VALUES (0, 0)'],
  [`PRAGMA application_id = ${APPLICATION_ID}`],
  [`PRAGMA user_version = ${SQL_FORMAT}`],
];

const REFS =
  'SELECT 0 AS kind, name AS a, max(generation) AS b, format AS c, commit_bytes AS d FROM ref GROUP BY name';
const UNKNOWN =
  'SELECT 1, id, NULL, NULL, bytes FROM segment_table WHERE id NOT IN (SELECT value FROM json_each(?))';

/** Reads the refs, and the tables of ids that are not in a JSON array: in one statement, and so from one state. */
export const LOAD_NEW = `${REFS} UNION ALL ${UNKNOWN}`;
/** The same, and all ids. */
export const LOAD_ALL = `${LOAD_NEW} UNION ALL SELECT 2, id, NULL, NULL, NULL FROM segment_table`;

/** Reads segments by a JSON array of arrays: the id of each; for a part also its start and its length. */
export const READ = `
  SELECT key, CASE WHEN json_array_length(value) = 1 THEN bytes ELSE
    -- NULL where it begins behind the end.
    ifnull(substr(bytes, json_extract(value, '$[1]') + 1, json_extract(value, '$[2]')), x'') END
  FROM json_each(?) JOIN segment ON segment.id = json_extract(value, '$[0]')`;

export const HISTORY =
  'SELECT generation, format, commit_bytes FROM ref WHERE name = ? ORDER BY generation DESC LIMIT ?';

export const COUNTER = 'SELECT last FROM counter WHERE id = 0';

/** Reads a number that changes when another connection has changed the file. */
export const DATA_VERSION = 'SELECT data_version FROM pragma_data_version';

/** Moves the counter on by one, if it stands where expected. */
export function buildCountStatement(from: number): Statement {
  return ['UPDATE counter SET last = CASE WHEN last = ? THEN ? END WHERE id = 0', [from, from + 1]];
}

const MOVE =
  'INSERT INTO ref (name, generation, format, commit_bytes) VALUES (?, ' +
  'CASE WHEN coalesce((SELECT max(generation) FROM ref WHERE name = ?), 0) = ? THEN ? END, ?, ?)';

/** Moves a ref if it stands where expected, and forgets moves before the last `kept`. */
export function buildMoveStatements(
  name: string,
  to: Omit<RefMove, 'name'>,
  kept: number,
): Statement[] {
  const { generation, expected, format, commitBytes } = to;
  return [
    [MOVE, [name, name, expected, generation, format, commitBytes]],
    ['DELETE FROM ref WHERE name = ? AND generation <= ?', [name, generation - kept]],
  ];
}

/** Deletes a ref if it stands where expected: moves it, and forgets all its moves. */
export function buildDropStatements(
  name: string,
  { expected }: Omit<RefDrop, 'name'>,
): Statement[] {
  return [
    [MOVE, [name, name, expected, expected + 1, 0, new Uint8Array()]],
    ['DELETE FROM ref WHERE name = ?', [name]],
  ];
}

export function buildInsertStatements({
  id,
  segmentBytes,
  tableBytes,
}: SegmentRecord): Statement[] {
  return [
    ['INSERT OR REPLACE INTO segment (id, bytes) VALUES (?, ?)', [id, segmentBytes]],
    ['INSERT OR REPLACE INTO segment_table (id, bytes) VALUES (?, ?)', [id, tableBytes]],
  ];
}

/** Fails unless a ref stands where it should. */
export function buildFenceStatement({ name, commitBytes }: Fence): Statement {
  return [
    'UPDATE counter SET last = CASE WHEN (SELECT commit_bytes FROM ref WHERE name = ? ' +
      'ORDER BY generation DESC LIMIT 1) = ? THEN last END WHERE id = 0',
    // op-sqlite takes bytes at the first place for a list of values.
    [JSON.stringify(name), commitBytes],
  ];
}

export function buildDeleteStatements(ids: readonly number[]): Statement[] {
  const list = JSON.stringify(ids);
  return [
    ['DELETE FROM segment WHERE id IN (SELECT value FROM json_each(?))', [list]],
    ['DELETE FROM segment_table WHERE id IN (SELECT value FROM json_each(?))', [list]],
  ];
}
