/**
 * Lets Firefox draw while work goes on in slices. Firefox handles messages before frames: with a slice in each message
 * it draws one frame in 75 ms. Other engines draw in between by themselves.
 */
import { isGecko } from './browser-engine.js';

/** How long work goes on before it waits for a frame, in milliseconds. */
const FRAME_MS = 14;
/** A longer pause ends a stretch of work, in milliseconds. */
const PAUSE_MS = 50;
/** The longest wait for a frame, in milliseconds: a covered window gets no frames. */
const LIMIT_MS = 30;
/** How long work does not wait for frames after a missing one, in milliseconds. */
const NONE_MS = 1000;

/** Whether this engine waits. Asked once, not for each slice: Chromium takes 20 us to read the name. */
let waits: boolean | undefined;
let fromMs = 0;
let lastMs = 0;
let isAsked = false;
/** The call that waits for the requested frame. */
let waiting: (() => void) | undefined;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Returns whether the page has worked for a while without a frame, in an engine that waits for one. */
function isDue(): boolean {
  // A worker has `requestAnimationFrame`, too.
  waits ??= typeof document !== 'undefined' && isGecko();
  if (!waits) return false;
  const nowMs = performance.now();
  if (nowMs - lastMs > PAUSE_MS) fromMs = Math.max(fromMs, nowMs);
  lastMs = nowMs;
  if (document.visibilityState !== 'visible') return false;
  // Request the frame now, so that it comes in time: a request at the due time would get the next one.
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
