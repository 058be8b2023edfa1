// Nothing is waited for without a limit: what hangs is a failure, and is told as one.

/** What `promise` comes to, or an error that says what took longer than `ms`. */
export async function within(ms, what, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: nothing in ${ms / 1000} s`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
    // It may fail later, when nobody waits for it any more.
    promise.catch(() => {});
  }
}

export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
