// Reports long tasks while they run: a line now and then for each.

/** The time between two lines, in milliseconds: short on a terminal, long in a log. */
const EVERY_MS = process.stdout.isTTY ? 5_000 : 20_000;

const underWay = new Set();
let clock;

function tell() {
  const parts = [...underWay].map(({ what, began }) => {
    return `${what}, ${Math.round((performance.now() - began) / 1000)} s`;
  });
  console.log(`...         ${parts.join('; ')}`);
}

/** Does `work`, and reports it if it takes long. */
export async function during(what, work) {
  const one = { what, began: performance.now() };
  underWay.add(one);
  clock ??= setInterval(tell, EVERY_MS);
  try {
    return await work();
  } finally {
    underWay.delete(one);
    if (underWay.size === 0) {
      clearInterval(clock);
      clock = undefined;
    }
  }
}
