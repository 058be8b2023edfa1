// One page of a browser on a profile on disk: `goto`, `evaluate`, `close`, and `throttle` where the engine can.

import { isChromium } from '../../lib/engines/index.mjs';
import { launchChromium } from '../lib/launch-chromium.mjs';

export async function openPage(engine, profileDir) {
  if (isChromium(engine.name)) {
    const { page, session, close } = await launchChromium(engine, profileDir);
    return {
      goto: (url) => page.goto(url, { waitUntil: 'commit' }),
      evaluate: (run) => page.evaluate(run),
      /** Makes the processor `rate` times slower. */
      throttle: (rate) => session.send('Emulation.setCPUThrottlingRate', { rate }),
      close,
    };
  }
  const running = await engine.launch(profileDir);
  const page = await running.newPage();
  return {
    goto: (url) => page.goto(url),
    evaluate: (run) => page.evaluate(run),
    throttle: undefined,
    close: () => running.close(),
  };
}
