// Writes a figure as pages show it.

/** Whether a higher figure is better. */
export const isMore = ({ unit }) => unit === 'per second';

/** Rounds to significant digits, with commas between thousands: 215,657 is 216,000 with three digits. */
function digits(value, count) {
  if (value >= 1000) return Number(value.toPrecision(count)).toLocaleString('en');
  return String(Number(value.toPrecision(count)));
}

export const shownRatio = (value) =>
  value >= 100 ? `${digits(value, 3)} x` : `${value.toPrecision(2)} x`;

export function shown(figure) {
  const { value, unit } = figure;
  if (unit === 'x') return shownRatio(value);
  return `${digits(value, 3)} ${isMore(figure) ? 'a second' : unit}`;
}

/**
 * Writes a figure as a multiple of Hedgerow's time or size. `median` is the median of the ratios of all rounds, where
 * there is one: it is not the ratio of the medians.
 */
export function ratioOf(figure, own, median) {
  if (median !== undefined) return median.value;
  return isMore(figure) ? own.value / figure.value : figure.value / own.value;
}
