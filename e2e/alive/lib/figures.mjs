// What the delays of a probe come to.

/** The value below which `share` of the sorted values lie. */
function quantile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}

const rounded = (ms) => Math.round(ms * 100) / 100;

/** Half, 99 of 100, and all of the delays are at most this; `null` for no delays. */
export function summary(delays) {
  if (delays.length === 0) return null;
  const sorted = [...delays].sort((a, b) => a - b);
  const at = (share) => rounded(quantile(sorted, share));
  return {
    count: sorted.length,
    p50: at(0.5),
    p90: at(0.9),
    p99: at(0.99),
    max: rounded(sorted.at(-1)),
    // For the plot: how the delays are spread.
    percentiles: Array.from({ length: 100 }, (_, percent) => at(percent / 100)),
  };
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
}

/** Median, least and most of what pairs of times come to, each pair taken at about one time. */
export function ratio(pairs) {
  const ratios = pairs.map(([ours, other]) => ours / other);
  return {
    median: median(ratios),
    min: Math.min(...ratios),
    max: Math.max(...ratios),
    pairs: pairs.map((pair) => pair.map(rounded)),
  };
}
