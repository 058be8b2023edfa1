import { readFile, stat } from 'node:fs/promises';
import { COPIES } from '../../../scripts/lib/pack.mjs';
import { contentFaults } from '../../../scripts/lib/release-contents.mjs';
import { VERSIONS } from '../versions.mjs';

/** Whether attw reports what we intend: in Node 20.19 and later `require()` loads ESM, and pages have no types. */
const isMeant = ({ kind, entrypoint }) =>
  kind === 'CJSResolvesToESM' || (kind === 'NoResolution' && /\.html$/.test(entrypoint));

/** `npm run build` makes no output for React Native: that takes a minute, and is a separate step. */
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
    .filter((problem) => !isMeant(problem))
    .map(
      ({ kind, entrypoint = '', resolutionKind = '' }) => `${kind} ${entrypoint} ${resolutionKind}`,
    );
  return { ok: told.length === 0, error: told.join('; '), checked: ['attw'] };
}

/** Checks the files in a tarball, and the texts that people look for on its page at the registry. */
async function contents(shop) {
  const dir = shop.path('node_modules', 'hedgerow');
  const hasNative = await hasReactNative(shop);
  const { size: packedBytes } = await stat(shop.tarball);
  // In a release the changelog has one more version.
  const compared = COPIES.filter((name) => name !== 'CHANGELOG.md');
  const { faults, files } = await contentFaults(dir, { packedBytes, compared });
  const told = faults.filter((fault) => hasNative || !fault.includes('react-native'));
  const readme = await shop.read('node_modules/hedgerow/README.md');
  for (const word of ['npm install hedgerow', '## Quick start', "from 'hedgerow'"]) {
    if (!readme.includes(word)) told.push(`README.md has no ${word}`);
  }
  return { ok: told.length === 0, error: told.join('; '), checked: [`${files} files`] };
}

/** Runs in Node, over the packed package: follows the `help` of an error. */
const ADDRESSES = `
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { HedgerowError } from 'hedgerow';
const read = (address) => readFileSync(fileURLToPath(import.meta.resolve(address)), 'utf8');
const pages = process.argv.slice(2).map((code) => {
  const error = new HedgerowError(code, 'for a test');
  if (!String(error).endsWith(\`(\${error.help})\`)) throw new Error(String(error));
  return [code, read(error.help).split('\\n', 1)[0]];
});
console.log(JSON.stringify({ name: 'node', pages, list: read('hedgerow/errors/index.md') }));
`;

/**
 * Checks that each code in the declarations leads to its page in the package, whose links lead to other pages there.
 */
async function addresses(shop) {
  const declared = await shop.read('node_modules/hedgerow/dist/base/errors.d.ts');
  const [union] = /type ErrorCode =[^;]*;/.exec(declared);
  const codes = [...union.matchAll(/'([a-z-]+)'/g)].map(([, code]) => code);
  if (codes.length < 30) throw new Error(`only ${codes.length} codes were found`);
  await shop.write({ 'addresses.mjs': ADDRESSES });
  const { node } = await shop.results(process.execPath, ['addresses.mjs', ...codes]);
  for (const [code, title] of node.pages) {
    if (title !== `# \`${code}\``) throw new Error(`the page of ${code} begins with ${title}`);
  }
  const listed = [...node.list.matchAll(/\]\(([^)]*)\)/g)].map(([, link]) => link).sort();
  const expected = codes.map((code) => `${code}.md`).sort();
  if (String(listed) !== String(expected)) throw new Error(`the list of pages has ${listed}`);
  return { ok: true, checked: codes };
}

export default {
  title: 'the package itself',
  packages: ['publint', '@arethetypeswrong/core'],
  sample: true,
  version: `publint ${VERSIONS.publint}, attw ${VERSIONS['@arethetypeswrong/core']}`,
  cases: { contents, 'addresses of errors': addresses, publint, 'are the types wrong': attw },
};
