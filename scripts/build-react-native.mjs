// `node scripts/build-react-native.mjs`: builds the package for React Native, `js/hedgerow/dist/react-native`.
// Not part of `npm run build`, since it compiles the core a second time, which takes about a minute.

import { pathToFileURL } from 'node:url';
import { runMain } from './lib/run.mjs';

/** Builds outdated parts; `npm run build` must have run. */
export async function buildForReactNative() {
  const { buildPlain } = await import('./lib/plain.mjs');
  const { buildReactNative } = await import('./lib/react-native.mjs');
  const rebuilt = await buildPlain();
  console.log(
    `plain core  ${rebuilt ? 'built' : 'up to date'}: js/hedgerow/src/core/generated/plain.js`,
  );
  await buildReactNative();
  console.log('built: js/hedgerow/dist/react-native');
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await runMain(buildForReactNative);
