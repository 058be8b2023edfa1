import { readFile, stat } from 'node:fs/promises';
import { copiesOf, STORE } from '../../../scripts/lib/pack.mjs';
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

/** Makes a case of a check of each package, which returns its faults, as sentences, and what it has checked. */
const ofEach = (check) => async (shop) => {
  const faults = [];
  const checked = [];
  for (const name of Object.keys(shop.tarballs)) {
    const found = await check(shop, name);
    faults.push(...found.faults.map((fault) => `${name}: ${fault}`));
    checked.push(`${name}: ${found.checked}`);
  }
  return { ok: faults.length === 0, error: faults.join('; '), checked };
};

const publint = ofEach(async (shop, name) => {
  const { publint: lint } = await import('publint');
  const { formatMessage } = await import('publint/utils');
  const pkgDir = shop.path('node_modules', name);
  const { messages, pkg } = await lint({ pkgDir, level: 'suggestion', pack: false });
  const hasNative = await hasReactNative(shop);
  const isMissingNative = ({ code, path }) =>
    code === 'FILE_DOES_NOT_EXIST' && path.includes('react-native') && !hasNative;
  const faults = messages
    .filter((message) => !isMissingNative(message))
    .map((message) => formatMessage(message, pkg, { color: false }));
  return { faults, checked: 'publint' };
});

const attw = ofEach(async (shop, name) => {
  const { checkPackage, createPackageFromTarballData } = await import('@arethetypeswrong/core');
  const { problems } = await checkPackage(
    createPackageFromTarballData(await readFile(shop.tarballs[name])),
  );
  const faults = problems
    .filter((problem) => !isMeant(problem))
    .map(
      ({ kind, entrypoint = '', resolutionKind = '' }) => `${kind} ${entrypoint} ${resolutionKind}`,
    );
  return { faults, checked: 'attw' };
});

/** The texts that people look for on the page of a package at the registry. */
const wordsOf = (name) => [
  `npm install ${name === STORE ? name : `hedgerow ${name}`}`,
  ...(name === STORE ? ['## Quick start', "from 'hedgerow'"] : [`from '${name}`]),
];

/** Checks the files in the tarballs. */
const contents = ofEach(async (shop, name) => {
  const dir = shop.path('node_modules', name);
  const hasNative = await hasReactNative(shop);
  const { size: packedBytes } = await stat(shop.tarballs[name]);
  // In a release the changelog has one more version.
  const compared = copiesOf(name).filter((file) => file !== 'CHANGELOG.md');
  const { faults, files } = await contentFaults(dir, { packedBytes, compared });
  const counted = faults.filter((fault) => hasNative || !fault.includes('react-native'));
  const readme = await shop.read(`node_modules/${name}/README.md`);
  for (const word of wordsOf(name)) {
    if (!readme.includes(word)) counted.push(`README.md has no ${word}`);
  }
  return { faults: counted, checked: `${files} files` };
});

/** Runs in Node, over the packed package: follows the `help` of an error. */
const ADDRESSES = `
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { HedgerowError } from 'hedgerow';
const read = (address) => readFileSync(fileURLToPath(import.meta.resolve(address)), 'utf8');
const pages = process.argv.slice(2).map((kind) => {
  const error = new HedgerowError(kind, 'for a test');
  if (!String(error).endsWith(\`(\${error.help})\`)) throw new Error(String(error));
  const [page, detail] = error.help.split('#');
  const heading = detail === undefined ? /^# .*/ : new RegExp(\`^## .\${detail}.$\`, 'm');
  return [kind, heading.exec(read(page))?.[0]];
});
console.log(JSON.stringify({ name: 'node', pages, list: read('hedgerow/errors/index.md') }));
`;

/**
 * Checks that each code in the declarations, and each detail, leads to its place in the package, whose links lead to
 * other pages there.
 */
async function addresses(shop) {
  const declared = await shop.read('node_modules/hedgerow/dist/base/errors.d.ts');
  const [union] = /type ErrorCode =[^;]*;/.exec(declared);
  const codes = [...union.matchAll(/'([a-z-]+)'/g)].map(([, code]) => code);
  if (codes.length < 20) throw new Error(`only ${codes.length} codes were found`);
  await shop.write({ 'addresses.mjs': ADDRESSES });
  const [details] = /interface Details \{[^}]*\}/.exec(declared);
  const kinds = [...details.matchAll(/^ *readonly '?([a-z-]+)'?: (.*);$/gm)].flatMap(
    ([, code, of]) => [...of.matchAll(/'([a-z-]+)'/g)].map(([, detail]) => `${code}/${detail}`),
  );
  if (kinds.length < 15) throw new Error(`only ${kinds.length} details were found`);
  const { node } = await shop.results(process.execPath, ['addresses.mjs', ...codes, ...kinds]);
  for (const [kind, title] of node.pages) {
    const [code, detail] = kind.split('/');
    const expected = detail === undefined ? `# \`${code}\`` : `## \`${detail}\``;
    if (title !== expected) throw new Error(`the place of ${kind} begins with ${title}`);
  }
  const listed = [...node.list.matchAll(/\]\(([^)#]*\.md)\)/g)].map(([, link]) => link).sort();
  const expected = codes.map((code) => `${code}.md`).sort();
  if (String(listed) !== String(expected)) throw new Error(`the list of pages has ${listed}`);
  return { ok: true, checked: codes };
}

export default {
  title: 'the packages themselves',
  packages: ['publint', '@arethetypeswrong/core'],
  sample: true,
  version: `publint ${VERSIONS.publint}, attw ${VERSIONS['@arethetypeswrong/core']}`,
  cases: { contents, 'addresses of errors': addresses, publint, 'are the types wrong': attw },
};
