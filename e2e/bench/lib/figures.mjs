// Computes medians, and ratios within rounds.

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

export function figure(values) {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) };
}

export function geometricMean(values) {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}

/**
 * Summarizes a case: README.md describes the result. `rounds` has a map for each round, from contestants to their
 * samples of all cases.
 */
export function summarize({ name, title, unit }, contestants, rounds, failures, { rows }) {
  const ours = contestants.find(({ kind }) => kind === 'ours');
  const oursValues = rounds.map((taken) => taken.get(ours.name)?.[name]?.value);
  // Ratios of one round: the machine's other work was much the same for both.
  const ratiosOf = (values) => {
    const ratios = values.map((value, round) =>
      unit === 'per second' ? oursValues[round] / value : value / oursValues[round],
    );
    return ratios.every(Number.isFinite) ? figure(ratios) : null;
  };
  const rowOf = (about, values, details) => ({
    ...about,
    ...figure(values),
    samples: values,
    overOurs: ratiosOf(values),
    details,
  });
  const summaries = contestants.flatMap((contestant) => {
    const { name: who, kind, note, cannot, most, missing } = contestant;
    const about = { name: who, kind, ...(note === undefined ? {} : { note }) };
    const samples = rounds.map((taken) => taken.get(who)?.[name]);
    if (missing !== undefined) return [{ ...about, reason: missing }];
    if (failures.has(who)) return [{ ...about, failed: failures.get(who) }];
    if (rows > (most?.rows ?? Number.POSITIVE_INFINITY)) return [{ ...about, reason: most.reason }];
    if (samples.some((sample) => sample === undefined)) {
      // A floor is listed only if it measures this case.
      const reason = cannot?.[name];
      if (kind === 'floor' && reason === undefined) return [];
      return [{ ...about, reason: reason ?? 'this system does not tell' }];
    }
    const values = samples.map(({ value }) => value);
    const others = Object.keys(samples[0].also ?? {}).map((other) =>
      rowOf(
        { name: other, kind: kind === 'ours' ? 'variant' : kind },
        samples.map(({ also }) => also[other]),
        {},
      ),
    );
    return [rowOf(about, values, detailsOf(samples)), ...others];
  });
  const of = (kind) => summaries.filter((one) => one.kind === kind);
  return {
    name,
    title,
    unit,
    rows,
    ours: of('ours')[0],
    floor: of('floor')[0] ?? null,
    peers: of('peer'),
    variants: of('variant'),
  };
}

function detailsOf(samples) {
  const names = Object.keys(samples[0]?.details ?? {});
  return Object.fromEntries(
    names.map((name) => [name, figure(samples.map(({ details }) => details[name]))]),
  );
}
