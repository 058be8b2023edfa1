// Limits every wait: a hang is a failure, with a name.

/** Resolves like `promise`, or fails with an error that says what took longer than `ms`. */
export async function within(ms, what, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: nothing in ${ms / 1000} s`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
    // It may fail later, after the wait.
    promise.catch(() => {});
  }
}

export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
