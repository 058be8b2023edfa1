/** A worker that sends the time every few milliseconds, whatever the page's thread does. */
const TICK_MS = 5;

setInterval(() => postMessage(performance.timeOrigin + performance.now()), TICK_MS);
