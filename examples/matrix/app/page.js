// The page of an app.

import { modules } from './modules.js';
import { fetched, note, outcome } from './report.js';
import { scenario } from './scenario.js';

// Without a top-level `await`, which Parcel and scripts that are no modules do not have, and without an export: with
// either bundlers must cut the start into more files.
outcome(scenario(modules, { name: 'page', onOpen: fetched })).then((result) =>
  note('page', result),
);
