// Runs the suite that Keyv has for its storage adapters. Its package depends on sqlite3, a compiled package that only
// its own tests need, so this script unpacks the package instead of installing it.

import { fileURLToPath } from 'node:url';
import { judged, runVitest } from '../../lib/foreign.mjs';

const TESTS = fileURLToPath(new URL('suites/keyv.test.mjs', import.meta.url));

export const name = 'keyv';
export const source = {
  npm: '@keyv/test-suite',
  version: '2.1.2',
  integrity:
    'sha512-3DizJxnIx4OSDSYsGoY8Z4KYYmYGfz97D/0AwPd2sMYTcdKcfumXCKBo4YAYgS32uFJRvqs8HUFHyg8noJ8AGA==',
  with: [
    {
      npm: 'timekeeper',
      version: '2.3.1',
      integrity:
        'sha512-LeQRS7/4JcC0PgdSFnfUiStQEdiuySlCj/5SJ18D+T1n9BoY7PxKFfCwLulpHXoLUFr67HxBddQdEX47lDGx1g==',
    },
    {
      npm: 'bignumber.js',
      version: '9.3.1',
      integrity:
        'sha512-Ko0uX15oIUS7wJ3Rb30Fs6SkVbLmPBAKdlm7q9+ak9bbIeFf0MwuBsQV6z7+X768/cHsfg+WlysDWJcmthjsjQ==',
    },
    {
      npm: 'json-bigint',
      version: '1.0.0',
      integrity:
        'sha512-SiPv/8VpZuWbvLSMtTDU8hEfrZWg/mH/nV/b4o0CYbSxu1UIQPLdwKOCIyLQX+VIPO5vrLX3i8qtqFyhdPSUSQ==',
    },
  ],
};

export async function run({ dir, report }) {
  return judged(await runVitest([TESTS], { report, env: { FOREIGN_DIR: dir } }));
}
