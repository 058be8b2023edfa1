// The tables, for both databases, and the end of a transaction. A program that writes rows by other means must lock
// their space first, raise its version, give this a stamp, and give the rows this version, as `push` does.

/**
 * `bytewise` orders keys by their bytes. A row without a value is deleted: it stays, so that pulls report the deletion.
 */
export const schema = (bytewise) => `
  CREATE TABLE IF NOT EXISTS hedgerow_space (
    id text PRIMARY KEY, version bigint NOT NULL, horizon bigint NOT NULL);
  CREATE TABLE IF NOT EXISTS hedgerow_stamp (
    space text NOT NULL, version bigint NOT NULL, stamp text NOT NULL, PRIMARY KEY (space, version));
  CREATE TABLE IF NOT EXISTS hedgerow_client (
    space text NOT NULL, id text NOT NULL, group_id text NOT NULL,
    last_mutation_id bigint NOT NULL, version bigint NOT NULL, PRIMARY KEY (space, id));
  CREATE TABLE IF NOT EXISTS hedgerow_refusal (
    space text NOT NULL, group_id text NOT NULL, version bigint NOT NULL, refused text NOT NULL);
  CREATE TABLE IF NOT EXISTS hedgerow_row (
    space text NOT NULL, key text ${bytewise} NOT NULL, value text,
    version bigint NOT NULL, PRIMARY KEY (space, key));
  CREATE INDEX IF NOT EXISTS hedgerow_client_group ON hedgerow_client (space, group_id, version);
  CREATE INDEX IF NOT EXISTS hedgerow_refusal_group ON hedgerow_refusal (space, group_id, version);
  CREATE INDEX IF NOT EXISTS hedgerow_row_version ON hedgerow_row (space, version, key);`;

/** Runs `work`; commits its writes, or none after an error. */
export async function inTransaction({ query, end }, work) {
  try {
    const result = await work(query);
    await query('COMMIT');
    end();
    return result;
  } catch (error) {
    await query('ROLLBACK').then(() => end(), end);
    throw error;
  }
}
