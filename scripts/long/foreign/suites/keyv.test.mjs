import { pathToFileURL } from 'node:url';
import Keyv from 'keyv';
import * as test from 'vitest';
import { HedgerowKeyv } from '../../../../js/adapters/dist/keyv.js';
import { memory, open } from '../../../../js/hedgerow/dist/index.js';

const suite = await import(pathToFileURL(`${process.env.FOREIGN_DIR}/dist/index.js`).href);

test.describe.each(['', 'cache/'])('prefix %j', (prefix) => {
  const db = open(`keyv ${prefix}`, { storage: memory() });
  const store = () => new HedgerowKeyv(db, { prefix });
  suite.default(test, Keyv, store);
  suite.keyvIteratorTests(test, Keyv, store);
});
