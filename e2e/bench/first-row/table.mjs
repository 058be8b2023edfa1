// The table of a run: medians of the rounds, and the median of the ratios to Hedgerow within each round.

import { median } from '../lib/figures.mjs';

const OURS = 'hedgerow';
const rounded = (number) => (number < 100 ? number.toFixed(1) : String(Math.round(number)));

/** Prints the figures of an engine. */
export function printTable(engine, samples, failed) {
  const names = [...new Set(samples.map(({ name }) => name))];
  const ways = [...new Set(samples.map(({ way }) => way))];
  console.log(
    `\n${engine}: to the row on the screen; ms, (x Hedgerow); then to the answer of a write`,
  );
  for (const way of ways) {
    console.log(`\n  ${way}`);
    for (const name of names) {
      const own = samples.filter((sample) => sample.way === way && sample.name === name);
      const ours = (round) =>
        samples.find((one) => one.way === way && one.name === OURS && one.round === round);
      const ratios = own.flatMap((one) => {
        const other = ours(one.round);
        return other === undefined ? [] : [one.drawnMs / other.drawnMs];
      });
      const [drawn, read, written, bytes] = ['drawnMs', 'readMs', 'writtenMs', 'bytes'].map(
        (figure) => median(own.map((one) => one[figure])),
      );
      console.log(
        `    ${name.padEnd(12)} ${rounded(drawn).padStart(7)}  (${median(ratios).toFixed(2)})  read ${rounded(read)}, written ${rounded(written)}, ${Math.round(bytes)} bytes`,
      );
    }
  }
  for (const [name, reason] of Object.entries(failed)) console.log(`  ${name}: ${reason}`);
}
