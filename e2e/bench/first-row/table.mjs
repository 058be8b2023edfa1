// The table of a run: medians of the rounds, and the median of the ratios to Hedgerow within each round.

export function medianOf(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  if (sorted.length === 0) return Number.NaN;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

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
        (figure) => medianOf(own.map((one) => one[figure])),
      );
      console.log(
        `    ${name.padEnd(12)} ${rounded(drawn).padStart(7)}  (${medianOf(ratios).toFixed(2)})  read ${rounded(read)}, written ${rounded(written)}, ${Math.round(bytes)} bytes`,
      );
    }
  }
  for (const [name, reason] of Object.entries(failed)) console.log(`  ${name}: ${reason}`);
}
