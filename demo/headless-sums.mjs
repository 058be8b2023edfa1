// Checks the sum tree for `headless.mjs`: the page with the rows proves, another tab verifies. Node computes the
// expected sum by adding up, and the root from a tree of the same leaves.

import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { memory, open } from 'hedgerow';

const WAIT_MS = 60_000;
const ROWS_PATH = fileURLToPath(new URL('public/data/cities.largest.ndjson', import.meta.url));
const PARIS = 'paris/fr/11/1';
const CAMELOT = 'camelot';

/** A verifier that loads more has loaded the store. */
const MAX_VERIFIER_BYTES = 60_000;

/** Makes the total and the root leaf by leaf; the page lets the tree follow rows. */
async function expected() {
  const lines = (await readFile(ROWS_PATH, 'utf8')).trimEnd().split('\n');
  const rows = lines.map((line) => JSON.parse(line));
  const store = await open('expected-sums', { storage: memory() });
  const encoder = new TextEncoder();
  const leaves = rows.map(({ id, name, population }) => ({
    key: id,
    value: encoder.encode(JSON.stringify(name)),
    sum: BigInt(population),
  }));
  const tree = store.sumTree('by hand');
  const { root } = await tree.putMany(leaves.reverse());
  const paris = leaves.find(({ key }) => key === PARIS);
  const grown = await tree.put(PARIS, { ...paris, sum: paris.sum + 1n });
  await store.close();
  const total = rows.reduce((sum, { population }) => sum + population, 0);
  const people = String(paris.sum);
  return { rows: rows.length, hash: root.hash, total: String(total), people, grown: grown.root };
}

async function figure(page, name, isThere = '() => true') {
  const found = await page.waitForFunction(
    ([key, source]) => {
      const found = globalThis.demo?.[key];
      // biome-ignore lint/security/noGlobalEval: a test of this file's own
      return found && globalThis.eval(source)(found) && found;
    },
    [name, isThere],
    { timeout: WAIT_MS },
  );
  return found.jsonValue();
}

/** Opens the verifier with a click, and counts the bytes that its tab loads. */
async function openVerifier(page, watchPage) {
  const opening = page.context().waitForEvent('page');
  await page.getByRole('link', { name: 'Verify it in a second tab' }).click();
  const tab = await opening;
  watchPage(tab);
  return { tab, verified: await figure(tab, 'verified') };
}

/** Presses a tampering button. Returns what the verifier found. */
async function tampered(tab, name) {
  const { times } = await figure(tab, 'verified');
  await tab.locator(`[data-tamper=${name}]`).click();
  return figure(tab, 'verified', `(verified) => verified.times > ${times}`);
}

async function checkProof(page, key, people, { say, check, ms, bytes }) {
  const proof = await figure(page, 'proof', `(proof) => proof.key === '${key}'`);
  check(proof.told > 0, `the proof of ${key} has ${proof.told} siblings`);
  say(`proof of ${key}`, `${bytes(proof.bytes)}, ${proof.told} siblings, ${ms(proof.ms)}`);
  check(proof.people === people, `${key} is proved to have ${proof.people}, not ${people}`);
  check(proof.bytes === 34 + 40 * proof.told, `the proof of ${key} has ${proof.bytes} bytes`);
}

/** Verifies the same bytes where there is neither IndexedDB nor WebAssembly. */
async function checkBare(page, address, { check, say, ms, bytes, watchPage }) {
  const tab = await page.context().newPage();
  watchPage(tab);
  const loaded = [];
  tab.on('response', (response) => loaded.push(response));
  await tab.addInitScript(() => {
    for (const name of ['WebAssembly', 'indexedDB']) delete globalThis[name];
    Object.defineProperty(globalThis, 'indexedDB', { value: undefined });
  });
  await tab.goto(address);
  const verified = await figure(tab, 'verified');
  check(verified.holds, 'the proof is refused without IndexedDB and WebAssembly');
  let [script, squeezed] = [0, 0];
  for (const response of loaded) {
    if (!new URL(response.url()).pathname.endsWith('.js')) continue;
    const body = await response.body();
    script += body.length;
    squeezed += gzipSync(body, { level: 9 }).length;
  }
  const all = script + verified.otherBytes;
  const { unpackedBytes } = verified;
  check(script === unpackedBytes, `the verifier shows ${unpackedBytes} of ${script}`);
  check(all < MAX_VERIFIER_BYTES, `the verifier loads ${all} bytes`);
  say('verifier: scripts', `${bytes(script)}, ${bytes(squeezed)} gzipped`);
  say('verifier: the rest', `${bytes(verified.otherBytes)} of words and styles`);
  say('verified', `${ms(verified.ms)}, the first time ${ms(verified.firstMs)}`);
  await tab.close();
}

/** Runs all checks. `pictures(page, name)` is called where there is something to see. */
export async function checkSums(page, url, tools, pictures) {
  const { say, check, ms, count, watchPage } = tools;
  const right = await expected();
  await page.goto(new URL('sums.html', url).href);
  const sums = await figure(page, 'sums');
  say('sum tree', `${count(sums.rows)} rows and leaves durable in ${ms(sums.ms)}`);
  say('total', `${count(Number(sums.total))} at root ${sums.hash}`);
  check(sums.rows === right.rows, `${sums.rows} rows are summed, not ${right.rows}`);
  check(sums.total === right.total, `the total is ${sums.total}, not ${right.total}`);
  check(sums.hash === right.hash, `the root is ${sums.hash}, but by hand ${right.hash}`);

  await checkProof(page, PARIS, right.people, tools);
  await pictures(page, 'sums');
  const { tab, verified } = await openVerifier(page, watchPage);
  say('verified in a new tab', `${ms(verified.ms)}, the first time ${ms(verified.firstMs)}`);
  check(verified.holds, 'the proof of a balance is refused');
  await pictures(tab, 'verify');
  for (const name of ['number', 'deny', 'byte', 'total']) {
    check(!(await tampered(tab, name)).holds, `“${name}” is not noticed`);
    if (name === 'number') await pictures(tab, 'refused');
    const { holds } = await tampered(tab, 'back');
    check(holds, `put back after “${name}”, the proof is refused`);
  }
  say('tampered with', 'number, presence, one bit, total: refused each time');
  await checkBare(page, tab.url(), tools);
  await tab.close();

  await page.getByRole('button', { name: 'Camelot', exact: true }).click();
  await checkProof(page, CAMELOT, undefined, tools);
  await pictures(page, 'absence');
  const absence = await openVerifier(page, watchPage);
  check(absence.verified.holds, 'the proof of an absence is refused');
  say('absence verified', ms(absence.verified.ms));
  check(!(await tampered(absence.tab, 'deny')).holds, 'a city is invented, and it is not noticed');
  await absence.tab.close();

  await page.reload();
  const again = await figure(page, 'sums');
  say('reload: sum tree', `opened in ${ms(again.ms)}`);
  check(again.wasThere && again.hash === right.hash, `after the reload the root is ${again.hash}`);

  // The old proof still proves the old root; the new root is the root of a tree made by hand.
  await page.getByRole('button', { name: 'Add one person' }).click();
  const moved = await figure(page, 'moved');
  say('a row and its root move', ms(moved.ms));
  check(moved.hash === right.grown.hash, `after a change the root is ${moved.hash}`);
  check(moved.total === String(right.grown.sum), `after a change the total is ${moved.total}`);
  const more = String(BigInt(right.people) + 1n);
  await figure(page, 'proof', `(proof) => proof.people === '${more}'`);
  const { failure } = await page.evaluate(() => globalThis.demo);
  check(failure === undefined, `the page says: ${failure}`);
}
