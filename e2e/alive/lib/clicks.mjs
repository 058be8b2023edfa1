// Clicks at a steady pace, as a user does: a click does not wait for the one before.

const CLICK_MS = 20;

/** Clicks into the page while `work` runs. */
export async function clicking({ context, page }, work) {
  const session = await context.newCDPSession(page);
  const send = (type) =>
    session.send('Input.dispatchMouseEvent', { type, x: 40, y: 40, button: 'left', clickCount: 1 });
  const under = new Set();
  const timer = setInterval(() => {
    const click = Promise.all([send('mousePressed'), send('mouseReleased')]);
    under.add(click);
    click.catch(() => {}).finally(() => under.delete(click));
  }, CLICK_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    await Promise.allSettled(under);
    await session.detach();
  }
}
