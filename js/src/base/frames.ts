/**
 * Lets Firefox draw while work goes on in slices. Its messages go before its frames: with a slice in each message it
 * draws one frame in 75 ms. Other engines draw in between by themselves.
 */
import { isGecko } from './engine-name.js';

/** How long work may go on until a frame is waited for, in milliseconds. */
const FRAME_MS = 14;
/** A longer pause ends a stretch of work, in milliseconds. */
const PAUSE_MS = 50;
/** How long a frame is waited for, in milliseconds: a window that is covered gets none. */
const LIMIT_MS = 30;
/** How long frames are not waited for after one has not come, in milliseconds. */
const NONE_MS = 1000;

/** Whether this engine waits. Asked once: to read the name takes Chromium 20 us, and each slice would. */
let waits: boolean | undefined;
let fromMs = 0;
let lastMs = 0;
let isAsked = false;
/** What waits for the frame that is asked for. */
let waiting: (() => void) | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Whether the page has worked for a while without a frame, in an engine that waits for one. */
function isDue(): boolean {
  // A worker has `requestAnimationFrame`, too.
  waits ??= typeof document !== 'undefined' && isGecko();
  if (!waits) return false;
  const nowMs = performance.now();
  if (nowMs - lastMs > PAUSE_MS) fromMs = Math.max(fromMs, nowMs);
  lastMs = nowMs;
  if (document.visibilityState !== 'visible') return false;
  // Asked for at once, so that it comes in time: asked for when it is due, it would be the one after.
  if (!isAsked) requestAnimationFrame(handleFrame);
  isAsked = true;
  return nowMs - fromMs >= FRAME_MS;
}

function handleFrame(): void {
  clearTimeout(timer);
  isAsked = false;
  fromMs = performance.now();
  goOn();
}

function goOn(): void {
  const next = waiting;
  waiting = undefined;
  next?.();
}

/** Calls `next`: at once, or just before the next frame if one is due. One call waits at a time. */
export function whenDrawn(next: () => void): void {
  if (!isDue()) {
    next();
    return;
  }
  waiting = next;
  timer = setTimeout(() => {
    fromMs = performance.now() + NONE_MS;
    goOn();
  }, LIMIT_MS);
}
