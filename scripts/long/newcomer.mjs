// `node scripts/long/newcomer.mjs [--only react,vue] [--tarball FILE] [--as-built] [--keep]`: follows docs/quick-start.md as
// a new user does, for each framework that create-vite has a template for. Makes a new app outside of the repository,
// with the commands and the blocks of the page unchanged, and the packed package; then runs its own checks, its build,
// and two tabs in Chromium. Prints the typed lines, and the seconds of each command. Packages come from the registry.

import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Workshop } from '../../examples/matrix/lib/workshop.mjs';
import { packAsBuilt } from '../lib/pack.mjs';
import { commandsOf, effortOf, filesOf, sectionsOf, typedFor } from '../lib/quick-start.mjs';
import { CommandFailed, ROOT, run, runMain } from '../lib/run.mjs';
import { tryInTwoTabs } from '../lib/two-tabs.mjs';

/** The version of `create vite@latest` when this was written. Its templates get the newest versions in their ranges. */
const CREATE_VITE = '9.3.0';
const TEMPLATES = {
  react: { template: 'react-ts', section: 'React' },
  vue: { template: 'vue-ts', section: 'Vue' },
  svelte: { template: 'svelte-ts', section: 'Svelte' },
  solid: { template: 'solid-ts', section: 'Solid' },
  vanilla: { template: 'vanilla-ts', section: 'Without a framework' },
};
/** Checks that a template has besides its build. */
const CHECKS = ['check', 'lint'];

/**
 * Adapts a command of the page: for another template than the shown one, without questions, and with the packed
 * package.
 */
function asRun(command, { template, tarball }) {
  return command
    .replace('npm create vite@latest', `npm create --yes vite@${CREATE_VITE}`)
    .replace('--template react-ts', `--template ${template} --no-interactive`)
    .replace(/^npm install hedgerow$/, `npm install ${tarball}`);
}

/** A folder in which a person types commands, with a clock. */
class Newcomer {
  seconds = {};
  #shop;

  constructor(shop) {
    this.#shop = shop;
  }

  async timed(step, work) {
    const began = performance.now();
    const result = await work();
    this.seconds[step] = (this.seconds[step] ?? 0) + (performance.now() - began) / 1000;
    return result;
  }

  async type(command) {
    const [program, ...args] = command.split(' ');
    if (program === 'cd') {
      this.#shop.dir = this.#shop.path(...args);
      return;
    }
    const step = /^npm (\w+)/.exec(command)?.[1] ?? program;
    await this.timed(step, () => this.#shop.run(program, args));
  }

  /** Writes the files that a section shows. */
  async write(section) {
    for (const { name, text, isMore } of filesOf(section)) {
      if (isMore) await appendFile(this.#shop.path(name), `\n${text}`);
      else await this.#shop.write({ [name]: text });
    }
  }

  /** Starts a server by a script of the app, and uses the app there; `edit` runs while the first tab is open. */
  async visit(script, rows, edit) {
    const args = (port) => ['run', script, '--', '--port', String(port), '--strictPort'];
    const { url } = await this.timed(script, () => this.#shop.start('npm', args));
    try {
      return await tryInTwoTabs(url, rows, edit);
    } finally {
      await this.#shop.tidy();
    }
  }
}

/** Returns the titles of the page's rows, as the app shows them: newest first. */
function rowsOf(section) {
  const { text } = filesOf(section).find(({ name }) => name.endsWith('.ndjson'));
  const rows = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  return rows.sort((a, b) => b.modified - a.modified).map(({ title }) => title);
}

/** Returns the versions that npm chose. */
async function versionsOf(shop, { dependencies = {}, devDependencies = {} }) {
  const names = Object.keys({ ...dependencies, ...devDependencies });
  const read = async (name) => {
    const { version } = JSON.parse(await shop.read(`node_modules/${name}/package.json`));
    return `${name} ${version}`;
  };
  return Promise.all(names.filter((name) => name !== 'hedgerow').map(read));
}

async function follow(page, { template, section }, { tarball, keep }) {
  const at = await mkdtemp(join(tmpdir(), 'newcomer-'));
  const shop = new Workshop(at);
  const person = new Newcomer(shop);
  try {
    for (const command of commandsOf(page.get('Create an app')))
      await person.type(asRun(command, { template, tarball }));
    const [store, component, server] = typedFor(section).map((name) => page.get(name));
    await person.write(store);
    await person.write(component);
    const rows = rowsOf(server);
    // The rest of the page is for a running app.
    const dev = await person.visit('dev', rows, () => person.write(server));
    const manifest = JSON.parse(await shop.read('package.json'));
    for (const name of CHECKS.filter((one) => one in manifest.scripts))
      await person.type(`npm run ${name}`);
    await person.type('npm run build');
    const built = await person.visit('preview', rows);
    return { seconds: person.seconds, dev, built, versions: await versionsOf(shop, manifest) };
  } finally {
    await shop.tidy();
    if (keep) console.log(`        ${at}`);
    else await rm(at, { recursive: true, force: true });
  }
}

async function packed({ tarball, 'as-built': asBuilt }, to) {
  if (tarball !== undefined) return tarball;
  if (!asBuilt) await run('node', ['scripts/build.mjs'], { quiet: true });
  return packAsBuilt(to);
}

function options() {
  try {
    return parseArgs({
      options: {
        only: { type: 'string', default: Object.keys(TEMPLATES).join() },
        tarball: { type: 'string' },
        'as-built': { type: 'boolean', default: false },
        keep: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    throw new CommandFailed(error.message);
  }
}

const COLUMNS = [
  ...['', 'words to read', 'lines to type', 'create, s', 'install, s'],
  ...[
    'start, until the list is there, s',
    'check and build, s',
    'files that the built page fetches',
  ],
];

/** Makes the figures of a row of the table. */
function figures({ section }, page, { seconds, dev, built }) {
  const { words, lines } = effortOf(page, section);
  const shown = seconds.dev + dev.first / 1000;
  const clock = [seconds.create, seconds.install, shown, seconds.run].map((one) => one.toFixed(1));
  return [section, words, lines, ...clock, built.requests];
}

async function main() {
  const given = options();
  const names = given.only.split(',');
  const unknown = names.filter((name) => !Object.hasOwn(TEMPLATES, name));
  if (unknown.length > 0) {
    const known = Object.keys(TEMPLATES).join(', ');
    throw new CommandFailed(`no template for ${unknown.join(', ')}; there are ${known}`);
  }
  const page = sectionsOf(await readFile(join(ROOT, 'docs', 'quick-start.md'), 'utf8'));
  const folder = await mkdtemp(join(tmpdir(), 'newcomer-package-'));
  const rows = [];
  const failed = [];
  try {
    const tarball = await packed(given, folder);
    for (const name of names) {
      try {
        const told = await follow(page, TEMPLATES[name], { ...given, tarball });
        rows.push(figures(TEMPLATES[name], page, told));
        console.log(`ok      ${name}: ${told.versions.join(', ')}`);
      } catch (error) {
        failed.push(name);
        console.log(`FAILED  ${name}: ${error.message}`);
      }
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  console.log(`\n| ${COLUMNS.join(' | ')} |\n|${'---|'.repeat(COLUMNS.length)}`);
  for (const row of rows) console.log(`| ${row.join(' | ')} |`);
  if (failed.length > 0)
    throw new CommandFailed(`the page does not lead there: ${failed.join(', ')}`);
}

// Otherwise an interrupt would leave servers running.
for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => process.exit(130));
await runMain(main);
