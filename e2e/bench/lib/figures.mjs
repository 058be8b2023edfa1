// Medians, and ratios within rounds.

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

export function figure(values) {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) };
}

/** What the samples of a case came to: see README.md for the form. */
export function summarize({ name, title, unit, contestants }, samples, profile) {
  const ours = contestants.find(({ kind }) => kind === 'ours');
  const oursValues = samples.get(ours.name).map(({ value }) => value);
  const summaries = contestants.map((contestant) => {
    const own = samples.get(contestant.name);
    const values = own.map(({ value }) => value);
    // Of one round: what else the machine did then was much the same for both.
    const ratios = values.map((value, round) =>
      unit === 'per second' ? oursValues[round] / value : value / oursValues[round],
    );
    return {
      ...contestant,
      ...figure(values),
      samples: values,
      timeOverOurs: figure(ratios),
      details: detailsOf(own),
    };
  });
  const isOurs = ({ kind }) => kind === 'ours';
  return {
    name,
    title,
    unit,
    ours: summaries.find(isOurs),
    floor: summaries.find(({ kind }) => kind === 'floor') ?? null,
    peers: summaries.filter(({ kind }) => kind === 'peer'),
    variants: summaries.filter(({ kind }) => kind === 'variant'),
    ...(profile === undefined ? {} : { profile }),
  };
}

function detailsOf(samples) {
  const names = Object.keys(samples[0]?.details ?? {});
  return Object.fromEntries(
    names.map((name) => [name, figure(samples.map(({ details }) => details[name]))]),
  );
}
