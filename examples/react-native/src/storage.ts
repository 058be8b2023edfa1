/** Where the store is kept. The one line to change for another place. */
import { memory } from 'hedgerow';

export const storage = memory();
