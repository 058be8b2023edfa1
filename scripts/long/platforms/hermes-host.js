// Provides functions that Hermes has in React Native, but not on the command line: timers that wait, and a console. The
// command line calls all functions passed to its `setTimeout` one after the other, without waiting.

(() => {
  const next = globalThis.setTimeout;
  const timers = new Map();
  let lastId = 0;
  let isAsked = false;

  // Like on a phone: one task for each timer that is due, earliest first, then in the order they were set.
  function turn() {
    isAsked = false;
    let first;
    for (const timer of timers.values())
      if (first === undefined || timer.at < first.at) first = timer;
    if (first === undefined) return;
    if (first.at <= Date.now()) {
      timers.delete(first.id);
      first.run(...first.args);
    }
    if (timers.size > 0) ask();
  }

  function ask() {
    if (isAsked) return;
    isAsked = true;
    next(turn);
  }

  globalThis.setTimeout = (run, ms = 0, ...args) => {
    lastId += 1;
    timers.set(lastId, { id: lastId, at: Date.now() + ms, run, args });
    ask();
    return lastId;
  };
  /** Ends the program: no waiting timer runs any more. */
  globalThis.endHost = () => {
    timers.clear();
    globalThis.setTimeout = () => 0;
  };
  globalThis.clearTimeout = (id) => void timers.delete(id);
  globalThis.setInterval = () => {
    throw new Error('no interval is expected');
  };
  globalThis.console = Object.fromEntries(
    ['log', 'info', 'warn', 'error', 'debug'].map((level) => [level, print]),
  );
})();
