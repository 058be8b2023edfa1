/** The life of a database in three visits: loaded, read, changed. */
import type { Case, Suite } from '../bench-case.js';
import { everyone } from './contestants.js';
import { LIFE_FLOOR } from './floor.js';
import { firstVisit } from './life-first.js';
import { secondVisit } from './life-second.js';
import { thirdVisit } from './life-third.js';

const ms = (name: string, title: string): Case => ({ name, title, unit: 'ms' });

export const LIFE: Suite = {
  name: 'life',
  cases: [
    ms('load', 'all rows, by ascending key, into an empty database'),
    ms('open', 'open + first get in a page just loaded (code and compiling included)'),
    ms('get-cold', 'mean of 200 random gets after opening'),
    { name: 'get', title: 'random gets, each awaited before the next, warm', unit: 'per second' },
    ms('get-many', 'getMany of 1,000 random keys, warm'),
    ms('scan-100', 'a scan of 100 rows from a random key on, to objects, warm'),
    ms('scan-prefix', 'a scan of the 1,000 rows of a prefix, to objects, warm'),
    ms('scan', 'a scan of all rows to an array of objects, warm'),
    ms('update-1', '1 % of the rows, evenly spread, changed in the full database'),
    ms('update-10', '10 % of the rows, evenly spread, changed in the full database'),
    ms('update-100', 'every row changed in the full database'),
    ms('delete', '1,000 rows, evenly spread, deleted from the full database'),
    ms('put', 'one put of a changed row, relaxed (p50)'),
    ms('put-strict', 'one put of a changed row that waits for the disk (p50)'),
    ms('puts-100', '100 puts, each awaited before the next'),
    ms('puts-turn', '1,000 puts of one turn of the event loop, until all are done'),
    ms('watch', 'from a put until a watcher of the row is called (p50)'),
    { name: 'disk', title: 'storage used after the load', unit: 'MiB' },
    { name: 'disk-after', title: 'storage used after all the changes', unit: 'MiB' },
  ],
  contestants: everyone([firstVisit, secondVisit, thirdVisit], LIFE_FLOOR),
};
