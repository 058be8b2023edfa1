// Says what takes long while it takes long: a line now and then for all that goes on.

/** How often, in milliseconds: somebody watches a terminal, and reads a log afterwards. */
const EVERY_MS = process.stdout.isTTY ? 5_000 : 20_000;

const underWay = new Set();
let clock;

function tell() {
  const parts = [...underWay].map(({ what, began }) => {
    return `${what}, ${Math.round((performance.now() - began) / 1000)} s`;
  });
  console.log(`...         ${parts.join('; ')}`);
}

/** Does `work`, and says so if it takes long. */
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
