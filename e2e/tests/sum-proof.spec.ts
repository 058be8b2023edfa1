/** A page without a store and without the core verifies sums. */
import { readFileSync } from 'node:fs';
import { expect, test } from './fixtures.js';

interface Vector {
  all_tree_leaves: { key: string; node: { value: string; sum: string } }[];
  valid_test_cases: {
    root_hash: string;
    root_sum: string;
    inclusion_proofs: { proof_key: string; compressed_proof: string }[];
    exclusion_proofs: { proof_key: string; compressed_proof: string }[];
  }[];
}

const file = new URL('../../vectors/mssmt/mssmt_proofs_100.json', import.meta.url);
const vector: Vector = JSON.parse(readFileSync(file, 'utf8'));

/** The most script bytes that such a page loads, unpacked. The core alone has ten times as many. */
const MAX_SCRIPT_BYTES = 30_000;

test('some kilobytes of script verify a proof', { tag: '@chromium' }, async ({ page }) => {
  await page.addInitScript(() => {
    for (const name of ['indexedDB', 'WebAssembly']) {
      Object.defineProperty(globalThis, name, { value: undefined });
    }
  });
  await page.goto('/sums.html');
  await page.waitForFunction(() => window.verifySumProof !== undefined);
  const told = await page.evaluate((vector) => {
    const bytes = (hex: string) =>
      Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
    const leaves = new Map(
      vector.all_tree_leaves.map(({ key, node }) => [
        key,
        { value: bytes(node.value), sum: BigInt(node.sum) },
      ]),
    );
    const [{ root_hash, root_sum, inclusion_proofs, exclusion_proofs }] =
      vector.valid_test_cases as [Vector['valid_test_cases'][number]];
    const root = { hash: root_hash, sum: BigInt(root_sum) };
    const jobs = (proofs: typeof inclusion_proofs, isPresent: boolean) =>
      proofs.map(({ proof_key, compressed_proof }) => ({
        key: bytes(proof_key),
        claim: isPresent ? (leaves.get(proof_key) ?? null) : null,
        proof: bytes(compressed_proof),
      }));
    const present = jobs(inclusion_proofs, true);
    const absent = jobs(exclusion_proofs, false);
    const verify = ({ key, claim, proof }: (typeof present)[number]) =>
      window.verifySumProof(root, key, claim, proof);
    const results = [...present, ...absent].map(verify);
    const forged = present.map(({ key, claim, proof }) => {
      const other = proof.slice();
      other[5]! ^= 4;
      return verify({ key, claim, proof: other });
    });
    // The quickest of many short rounds, to leave out the machine's other work.
    const quickest = (jobs: typeof present, perRound: number) => {
      let least = Infinity;
      for (let round = 0; round < 300; round++) {
        const start = performance.now();
        for (let at = 0; at < perRound; at++) verify(jobs[(round + at) % jobs.length]!);
        least = Math.min(least, (performance.now() - start) / perRound);
      }
      return least;
    };
    const scripts = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
    return {
      results,
      forged,
      present: quickest(present, 5),
      absent: quickest(absent, 60),
      scriptBytes: scripts.reduce((sum, { decodedBodySize }) => sum + decodedBodySize, 0),
      scripts: scripts.length,
    };
  }, vector);
  expect(told.results).toEqual(Array(26).fill(true));
  expect(told.forged).toEqual(Array(20).fill(false));
  console.log(
    `verified in ${told.present.toFixed(3)} ms, absence in ${told.absent.toFixed(3)} ms; ` +
      `${told.scriptBytes} bytes of script`,
  );
  expect(told.scripts).toBeGreaterThan(0);
  expect(told.scriptBytes).toBeLessThan(MAX_SCRIPT_BYTES);
});
