// `node scripts/figures-hermes.mjs`: what the load of 10,000 rows takes in Hermes, beside Replicache and
// a Map of JSON texts, in one run. As an app ships it: bytecode of hermesc -O.

import { join } from 'node:path';
import { buildForReactNative } from './build-react-native.mjs';
import { bundleWithMetro, compileForHermes, runInHermes } from './lib/hermes.mjs';
import { ROOT, runMain } from './lib/run.mjs';

await runMain(async () => {
  await buildForReactNative();
  const polyfills = [join(ROOT, 'scripts', 'platforms', 'hermes-host.js')];
  const code = await bundleWithMetro('scripts/platforms', 'hermes-figures.js', { polyfills });
  console.log(await runInHermes(await compileForHermes('figures', code)));
});
