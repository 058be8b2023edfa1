import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from '../../../scripts/lib/run.mjs';
import { VERSIONS } from '../versions.mjs';

/** What attw finds and we mean: in Node 20.19 and later `require()` loads ESM. */
const MEANT = new Set(['CJSResolvesToESM']);

/** `npm run build` makes nothing for React Native: that takes a minute, and is a step of its own. */
const hasReactNative = (shop) =>
  shop.read('node_modules/hedgerow/dist/react-native/index.js').then(
    () => true,
    () => false,
  );

async function publint(shop) {
  const { publint } = await import('publint');
  const { formatMessage } = await import('publint/utils');
  const pkgDir = shop.path('node_modules', 'hedgerow');
  const { messages, pkg } = await publint({ pkgDir, level: 'suggestion', pack: false });
  const hasNative = await hasReactNative(shop);
  const isMeant = ({ code, path }) =>
    code === 'FILE_DOES_NOT_EXIST' && path.includes('react-native') && !hasNative;
  const said = messages
    .filter((message) => !isMeant(message))
    .map((message) => formatMessage(message, pkg, { color: false }));
  return { ok: said.length === 0, error: said.join('; '), checked: ['publint'] };
}

async function attw(shop) {
  const { checkPackage, createPackageFromTarballData } = await import('@arethetypeswrong/core');
  const { problems } = await checkPackage(
    createPackageFromTarballData(await readFile(shop.tarball)),
  );
  const told = problems
    .filter(({ kind }) => !MEANT.has(kind))
    .map(
      ({ kind, entrypoint = '', resolutionKind = '' }) => `${kind} ${entrypoint} ${resolutionKind}`,
    );
  return { ok: told.length === 0, error: told.join('; '), checked: ['attw'] };
}

/** What people look for: a page of its own at the registry, the licences, and every file that is named. */
async function contents(shop) {
  const at = (name) => join('node_modules', 'hedgerow', name);
  const manifest = JSON.parse(await shop.read(at('package.json')));
  const hasNative = await hasReactNative(shop);
  const checked = [];
  for (const name of ['LICENSE-MIT', 'LICENSE-APACHE']) {
    if ((await shop.read(at(name))) !== (await readFile(join(ROOT, name), 'utf8'))) {
      throw new Error(`${name} is not that of the repository`);
    }
    checked.push(name);
  }
  const readme = await shop.read(at('README.md'));
  for (const word of ['npm install hedgerow', '## Quick start', "from 'hedgerow'"]) {
    if (!readme.includes(word)) throw new Error(`README.md has no ${word}`);
  }
  for (const [path, target] of Object.entries(manifest.exports)) {
    if (typeof target === 'string') continue;
    for (const [condition, file] of Object.entries(target)) {
      if (condition === 'react-native' && !hasNative) continue;
      await shop.read(at(file));
    }
    if (path === '.') continue;
    const folder = JSON.parse(await shop.read(at(join(path, 'package.json'))));
    await shop.read(at(join(path, folder.main)));
    await shop.read(at(join(path, folder.types)));
    checked.push(path);
  }
  return { ok: true, checked };
}

export default {
  title: 'the package itself',
  packages: ['publint', '@arethetypeswrong/core'],
  sample: true,
  version: `publint ${VERSIONS.publint}, attw ${VERSIONS['@arethetypeswrong/core']}`,
  cases: { contents, publint, 'are the types wrong': attw },
};
