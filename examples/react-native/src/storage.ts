/** The storage of the store. The one line to change for another place. */
import { opSqlite } from '@hedgerow/sqlite/op-sqlite';

export const storage = opSqlite({ name: 'example' });
