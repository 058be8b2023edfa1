// Runs the tests of the package for React Native in a real Hermes, and checks that each step of one history has the
// same root there as in Node. A step of the deep tier, which builds its own inputs.

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { buildForReactNative } from '../build-react-native.mjs';
import { bundleWithMetro, compileForHermes, runInHermes } from '../lib/hermes.mjs';
import { PLAIN_FILE } from '../lib/plain.mjs';
import { ROOT, runMain } from '../lib/run.mjs';
import { workload } from './platforms/workload.js';

/** Returns the roots of the history in Node, over WebAssembly. */
async function rootsInNode(count) {
  const { memory, open } = await import(
    pathToFileURL(join(ROOT, 'js', 'hedgerow', 'dist', 'index.js')).href
  );
  const { db, steps } = await workload({ open, storage: memory(), name: 'roots', count });
  await db.close();
  return steps;
}

/** Tests behaviour that WebAssembly has by itself, and that the plain JavaScript must imitate. */
async function checkCore() {
  const { start } = await import(pathToFileURL(PLAIN_FILE).href);
  const thrown = (call) => {
    try {
      call();
    } catch (error) {
      return error;
    }
  };
  const [one, other] = [start(), start()];
  one.start(1 << 24);
  other.start(1 << 24);
  const at = one.scratch(100);
  new Uint8Array(one.memory.buffer).fill(7, at, at + 100);
  const before = one.memory.buffer;
  const far = one.segment_buffer(40 << 20);
  const bytes = new Uint8Array(one.memory.buffer);
  const grown = one.memory.buffer !== before && bytes.length >= far + (40 << 20);
  const oom = thrown(() => one.segment_buffer(0x7fff_0000));
  const results = [
    ['instances share nothing', other.memory.buffer.byteLength < 4 << 20],
    [
      'memory grows, with what is in it',
      grown && bytes.subarray(at, at + 100).every((b) => b === 7),
    ],
    ['memory that is not to be had is told of', oom !== undefined && one.out_of_memory.value === 1],
    ['a panic throws', thrown(() => other.get(99, 3)) !== undefined],
  ];
  for (const [name, isRight] of results) console.log(`${isRight ? 'ok' : 'not ok'} ${name}`);
  return results.map(([, isRight]) => isRight);
}

await runMain(async () => {
  await buildForReactNative();
  const polyfills = [join(ROOT, 'scripts', 'long', 'platforms', 'hermes-host.js')];
  const code = await bundleWithMetro('scripts/long/platforms', 'hermes-tests.js', { polyfills });
  const output = await runInHermes(await compileForHermes('tests', code));
  const lines = output.split('\n').filter((line) => !line.startsWith('root '));
  console.log(lines.join('\n'));
  const found = output.split('\n').filter((line) => line.startsWith('root '));
  const wanted = (await rootsInNode(2000)).map(([step, root]) => `root ${root} ${step}`);
  const isSame = wanted.length > 0 && wanted.join('\n') === found.join('\n');
  console.log(`${isSame ? 'ok' : 'not ok'} all ${wanted.length} roots are those of Node`);
  if (!isSame) console.log(`${wanted.join('\n')}\nin Node, but in Hermes\n${found.join('\n')}`);
  const count = (start) => output.split('\n').filter((line) => line.startsWith(start)).length;
  const inCore = await checkCore();
  const others = [isSame, ...inCore];
  const passed = count('ok ') + others.filter((is) => is).length;
  const failed = count('not ok ') + others.filter((is) => !is).length;
  // A program that ends early does not print its number of tests.
  const isWhole = output.includes(`\nran ${passed + failed - others.length}`);
  if (!isWhole) console.log('not ok the program ended before its last test');
  console.log(`hermes: ${passed} passed, ${failed + Number(!isWhole)} failed`);
  if (failed > 0 || !isWhole) process.exitCode = 1;
});
