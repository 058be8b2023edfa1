// The tests of the package for React Native, in a real Hermes; and that each step of one history has
// the root there that it has in Node. A step of `npm test`, which builds what it needs.

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildForReactNative } from './build-react-native.mjs';
import { bundleWithMetro, compileForHermes, runInHermes } from './lib/hermes.mjs';
import { ROOT, runMain } from './lib/run.mjs';
import { workload } from './platforms/workload.js';

/** The roots of the history in Node, over WebAssembly. */
async function rootsInNode(count) {
  const { memory, open } = await import(pathToFileURL(join(ROOT, 'js', 'dist', 'index.js')).href);
  const { db, steps } = await workload({ open, storage: memory(), name: 'roots', count });
  await db.close();
  return steps;
}

await runMain(async () => {
  await buildForReactNative();
  const polyfills = [join(ROOT, 'scripts', 'platforms', 'hermes-host.js')];
  const code = await bundleWithMetro('scripts/platforms', 'hermes-tests.js', { polyfills });
  const output = await runInHermes(await compileForHermes('tests', code));
  const lines = output.split('\n').filter((line) => !line.startsWith('root '));
  console.log(lines.join('\n'));
  const found = output.split('\n').filter((line) => line.startsWith('root '));
  const wanted = (await rootsInNode(2000)).map(([step, root]) => `root ${root} ${step}`);
  const isSame = wanted.length > 0 && wanted.join('\n') === found.join('\n');
  console.log(`${isSame ? 'ok' : 'not ok'} all ${wanted.length} roots are those of Node`);
  if (!isSame) console.log(`${wanted.join('\n')}\nin Node, but in Hermes\n${found.join('\n')}`);
  const count = (start) => output.split('\n').filter((line) => line.startsWith(start)).length;
  const [passed, failed] = [count('ok ') + Number(isSame), count('not ok ') + Number(!isSame)];
  // A program that ends early has told of fewer tests than it has.
  const isWhole = output.includes(`\nran ${passed + failed - 1}`);
  if (!isWhole) console.log('not ok the program ended before its last test');
  console.log(`hermes: ${passed} passed, ${failed + Number(!isWhole)} failed`);
  if (failed > 0 || !isWhole) process.exitCode = 1;
});
