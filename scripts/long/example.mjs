// Bundles the example app for React Native with its own configuration of Metro, as a release build
// does, and compiles it with the compiler that comes with its React Native. A step of the deep tier.

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { buildForReactNative } from '../build-react-native.mjs';
import { ROOT, run, runMain } from '../lib/run.mjs';

const EXAMPLE = join(ROOT, 'examples', 'react-native');
const OUT_DIR = join(ROOT, '.cache', 'example');

await runMain(async () => {
  if (!existsSync(join(ROOT, 'js', 'hedgerow', 'dist', 'react-native')))
    await buildForReactNative();
  const require = createRequire(join(EXAMPLE, 'package.json'));
  const Metro = require('metro');
  const { FileStore } = require('metro-cache');
  // Merges over the example's own configuration, which overrides arguments of `loadConfig`.
  const own = await Metro.loadConfig({ cwd: EXAMPLE });
  const config = {
    ...own,
    reporter: { update: () => {} },
    cacheStores: [new FileStore({ root: join(OUT_DIR, 'metro') })],
    maxWorkers: 2,
    resolver: { ...own.resolver, useWatchman: false, resolveRequest: withoutSqlite },
  };
  await mkdir(OUT_DIR, { recursive: true });
  const bundle = join(OUT_DIR, 'index.android.js');
  await Metro.runBuild(config, {
    entry: 'index.ts',
    dev: false,
    minify: false,
    platform: 'android',
    unstable_transformProfile: 'hermes-stable',
    out: bundle,
  });
  const code = await readFile(bundle, 'utf8');
  // The bundle must contain the core in plain JavaScript and the app, but not the module for browsers.
  for (const part of [
    'function start()',
    'Load, or stop loading',
    'AppRegistry',
    'segment_table',
  ]) {
    if (!code.includes(part)) throw new Error(`the bundle lacks ${part}`);
  }
  if (code.includes('WebAssembly.compile'))
    throw new Error('the bundle has the module for browsers');
  const hermesc = join(
    ROOT,
    'node_modules',
    'hermes-compiler',
    'hermesc',
    binaryFolder(),
    'hermesc',
  );
  await run(hermesc, ['-w', '-O', '-emit-binary', '-out', `${bundle}.hbc`, bundle]);
  const bytes = await readFile(`${bundle}.hbc`);
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 12);
  console.log(`example: ${code.length} characters, ${bytes.length} bytes of bytecode (${hash})`);
});

// 118 MB of native code, but the bundle would contain only a few calls: apps install it, the
// checks do not.
function withoutSqlite(context, name, platform) {
  if (name === '@op-engineering/op-sqlite') return { type: 'empty' };
  return context.resolveRequest(context, name, platform);
}

function binaryFolder() {
  const folders = { linux: 'linux64-bin', darwin: 'osx-bin', win32: 'win64-bin' };
  return folders[process.platform];
}
