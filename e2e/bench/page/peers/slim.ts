import { type Database, NAMES, type OpenSetting } from './database.js';
import { over } from './hedgerow.js';

export async function openSlim({ durability }: OpenSetting): Promise<Database> {
  const { open } = await import('hedgerow/slim');
  return over(await open(NAMES.hedgerow, { durability }));
}
