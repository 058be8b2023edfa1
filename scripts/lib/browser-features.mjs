// Finds the first version of each browser with the features of `feature-list.mjs`, in MDN's browser-compat-data.
// `scripts/browser-features.mjs` writes the table of docs/browsers.md from it.

import { createRequire } from 'node:module';
import { FEATURES } from './feature-list.mjs';

/** The browsers of the table; the phone browsers among them are compared, too. */
export const BROWSERS = {
  chrome: 'Chrome, Edge',
  firefox: 'Firefox',
  safari: 'Safari',
  chrome_android: 'Chrome on Android',
  firefox_android: 'Firefox on Android',
  safari_ios: 'Safari on iOS',
};
export const SHOWN = ['chrome', 'firefox', 'safari'];

let loaded;

function compatData() {
  loaded ??= createRequire(import.meta.url)('@mdn/browser-compat-data');
  return loaded;
}

/** Returns the data of a path; throws for an unknown path, as when a newer version has renamed it. */
function supportOf(path) {
  let at = compatData();
  for (const name of path.split('/')) at = at?.[name];
  if (at?.__compat === undefined) throw new Error(`browser-compat-data has no ${path}`);
  return at.__compat.support;
}

/** Turns a version into a number to compare; a missing one is newer than all. */
export const numberOf = (version) =>
  version === undefined ? Number.POSITIVE_INFINITY : Number(version.match(/\d+(\.\d+)?/)[0]);

/** Returns the first version that has it whole, without a flag; `undefined` if no version has. */
export function firstVersion(support, browser) {
  const all = [support[browser] ?? []].flat();
  const whole = all.find(
    ({ flags, partial_implementation, version_removed, prefix, alternative_name }) =>
      !(flags || partial_implementation || version_removed || prefix || alternative_name),
  );
  const version = whole?.version_added;
  return typeof version === 'string' && version !== 'preview' ? version : undefined;
}

/** Returns the first version of a browser that has all of a feature. */
export function versionOf({ data }, browser) {
  const versions = data.map((path) => firstVersion(supportOf(path), browser));
  return versions.sort((a, b) => numberOf(b) - numberOf(a))[0];
}

/** Returns the first version of a browser in which a store works. */
export function minimumOf(browser) {
  const needed = FEATURES.filter((feature) => feature.needed);
  const versions = needed.map((feature) => versionOf(feature, browser));
  return versions.sort((a, b) => numberOf(b) - numberOf(a))[0];
}

/** Makes the table of docs/browsers.md. */
export function featureTable() {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  const version = (found) => found ?? 'none';
  const rows = FEATURES.map((feature) =>
    line([
      feature.name,
      ...SHOWN.map((browser) => version(versionOf(feature, browser))),
      feature.needed ? `**${feature.without}**` : feature.without,
      [...new Set(feature.tests.map(([file]) => file))]
        .map((file) => `[${file.split('/').at(-1)}](../${file})`)
        .join(', '),
    ]),
  );
  const minima = Object.entries(BROWSERS).map(
    ([key, name]) => `${name} ${version(minimumOf(key))}`,
  );
  return [
    `Minimum: ${minima.join(', ')}.`,
    '',
    line(['', ...SHOWN.map((browser) => BROWSERS[browser]), 'without it', 'test']),
    line(['---', ...SHOWN.map(() => '---'), '---', '---']),
    ...rows,
    '',
  ].join('\n');
}

/** Lists names of JavaScript and of the web that a needed version lacks, each with how code would use it. */
export function newerNames() {
  const { api, javascript } = compatData();
  const isNewer = (support) =>
    SHOWN.some(
      (browser) => numberOf(firstVersion(support, browser)) > numberOf(minimumOf(browser)),
    );
  const known = new Set();
  const found = [];
  const groups = [...Object.entries(javascript.builtins), ...Object.entries(api)];
  for (const [group, { __compat, ...members }] of groups) {
    if (__compat !== undefined && isNewer(__compat.support)) {
      found.push({
        name: group,
        pattern: new RegExp(`(new |typeof |instanceof |globalThis\\.)${group}\\b|\\b${group}[.(]`),
      });
    }
    for (const [member, { __compat: own }] of Object.entries(members)) {
      if (own === undefined || !/^\w+$/.test(member)) continue;
      if (!isNewer(own.support)) known.add(member);
      else
        found.push({ name: `${group}.${member}`, member, isBuiltin: group in javascript.builtins });
    }
  }
  return found.map(({ name, member, isBuiltin, pattern }) => {
    if (pattern !== undefined) return { name, pattern };
    const spelled = name.replace('.', '\\.').replace(/^Navigator\b/, 'navigator\\??');
    // A method of an instance, unless an older feature has this name.
    const method = isBuiltin && !known.has(member) ? `|\\.${member}\\(` : '';
    return { name, pattern: new RegExp(`\\b${spelled}\\b${method}`) };
  });
}
