// Runs a program in Hermes like an app for phones: bundled by Metro with React Native's own preset,
// compiled to bytecode by `hermesc -O`, and run by the interpreter, which has no JIT compiler.

import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT, run } from './run.mjs';

const OUT_DIR = join(ROOT, '.cache', 'hermes');
const EXAMPLE = join(ROOT, 'examples', 'react-native');
const PLATFORMS = { linux: 'linux64-bin', darwin: 'osx-bin', win32: 'win64-bin' };
const TOOLS = join(ROOT, 'node_modules', 'hermes-engine-cli', PLATFORMS[process.platform] ?? '');

/**
 * Bundles a file of `dir`, a folder under the root, with Metro. `setUp` runs before it; `polyfills`
 * run before everything. Returns the code.
 */
export async function bundleWithMetro(dir, entry, { setUp = [], polyfills = [] } = {}) {
  // Resolves from the example, which depends on them; and late, since `setup` installs them.
  const require = createRequire(join(EXAMPLE, 'package.json'));
  const Metro = require('metro');
  const { getDefaultConfig } = require('metro-config');
  const { FileStore } = require('metro-cache');
  const projectRoot = join(ROOT, dir);
  const defaults = await getDefaultConfig(projectRoot);
  const config = {
    ...defaults,
    projectRoot,
    // Not the whole repository: Metro lists all files, and `target` has many.
    watchFolders: [dir, 'node_modules', 'js'].map((folder) => join(ROOT, folder)),
    reporter: { update: () => {} },
    cacheStores: [new FileStore({ root: join(OUT_DIR, 'metro') })],
    fileMapCacheDirectory: OUT_DIR,
    maxWorkers: 1,
    resolver: {
      ...defaults.resolver,
      useWatchman: false,
      nodeModulesPaths: [join(ROOT, 'node_modules')],
      // Like the configuration of React Native.
      platforms: ['android', 'ios'],
      unstable_conditionNames: ['react-native'],
    },
    serializer: {
      ...defaults.serializer,
      getModulesRunBeforeMainModule: () => setUp.map((name) => require.resolve(name)),
      getPolyfills: () => polyfills.map((name) => require.resolve(name)),
    },
    transformer: {
      ...defaults.transformer,
      babelTransformerPath: require.resolve('@react-native/metro-babel-transformer'),
    },
  };
  await mkdir(OUT_DIR, { recursive: true });
  const { code } = await Metro.runBuild(config, {
    entry,
    dev: false,
    minify: false,
    platform: 'android',
    unstable_transformProfile: 'hermes-stable',
    out: join(OUT_DIR, 'bundle.js'),
  });
  return code;
}

/** Compiles code to bytecode like a released app; returns the path of the file. */
export async function compileForHermes(name, code) {
  await mkdir(OUT_DIR, { recursive: true });
  const [source, bytecode] = [join(OUT_DIR, `${name}.js`), join(OUT_DIR, `${name}.hbc`)];
  await writeFile(source, code);
  await run(join(TOOLS, 'hermesc'), ['-w', '-O', '-emit-binary', '-out', bytecode, source]);
  return bytecode;
}

/** Returns the path of the interpreter. */
export const hermesPath = () => join(TOOLS, 'hermes');

/** Runs a file of bytecode; returns its output. Rejects when Hermes itself fails. */
export async function runInHermes(file) {
  const { stdout } = await promisify(execFile)(hermesPath(), [file], {
    maxBuffer: 64 << 20,
    timeout: 300_000,
  });
  return stdout.trim();
}
