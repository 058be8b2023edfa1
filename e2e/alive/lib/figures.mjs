// Summarizes the delays of a probe.

const rounded = (ms) => Math.round(ms * 100) / 100;

/**
 * Summarizes delays; `null` for an empty list. If a probe asks again only after its answer, `pauseMs` later, each delay
 * counts for as long as it took: otherwise a freeze of a second, in which it could ask once, would weigh as much as one
 * of the many instant answers.
 */
export function summary(delays, pauseMs = null) {
  if (delays.length === 0) return null;
  const sorted = [...delays].sort((a, b) => a - b);
  const weight = (ms) => (pauseMs === null ? 1 : ms + pauseMs);
  const total = sorted.reduce((sum, ms) => sum + weight(ms), 0);
  const at = (share) => {
    let below = 0;
    const found = sorted.find((ms) => {
      below += weight(ms);
      return below > share * total;
    });
    return rounded(found ?? sorted.at(-1));
  };
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

/** Returns the median, least and most ratio of pairs of times, each pair taken at about one time. */
export function ratio(pairs) {
  const ratios = pairs.map(([ours, other]) => ours / other);
  return {
    median: median(ratios),
    min: Math.min(...ratios),
    max: Math.max(...ratios),
    pairs: pairs.map((pair) => pair.map(rounded)),
  };
}
