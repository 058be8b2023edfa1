// The app's side, in a page or in Node: a room on this device, whose addresses the endpoint signs.
import { destroy, HedgerowError, open } from 'hedgerow';
import { bucket, s3Remote } from 'hedgerow/sync';

/** Names the store of a room: another room, or another account, is another store. */
const storeOf = ({ account, room }) => `${account} in ${room}`;

/** Opens a room. `token` returns the user's token; `storage` is IndexedDB by default. */
export async function openRoom({ account, room, endpoint, token, storage }) {
  async function sign({ method, key, query }) {
    const answer = await fetch(endpoint, {
      method: 'POST',
      headers: { Authorization: `Bearer ${await token()}` },
      body: JSON.stringify({ method, key, query }),
    });
    if (answer.ok) return answer.text();
    const { status } = answer;
    const isDenied = status === 401 || status === 403;
    const what = `${method} ${key}: the endpoint answers ${status}`;
    throw new HedgerowError(isDenied ? 'unauthorized' : 'remote/status', what, { status });
  }
  const db = await open(storeOf({ account, room }), storage && { storage });
  // A device need not probe: `npx @hedgerow/server check` has probed the bucket.
  const connection = await db.connect(
    bucket(s3Remote({ prefix: `rooms/${room}/`, sign }), { probe: false }),
  );
  return { db, connection };
}

/**
 * Signs a user out: sends what waits, and deletes the rows. Rejects, and deletes no row, if some change cannot be sent.
 */
export async function leaveRoom({ account, room, storage }, { db, connection }) {
  await connection.push();
  await db.close();
  await destroy(storeOf({ account, room }), storage && { storage });
}
