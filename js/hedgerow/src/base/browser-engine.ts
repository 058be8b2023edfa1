/** Finds the engine by its name, where no feature shows how it behaves. */

const agent = () => globalThis.navigator?.userAgent ?? '';

/** Returns whether this is Gecko. Others say `like Gecko`, without a number. */
export const isGecko = () => /Gecko\/\d/.test(agent());

/** Returns whether this is Chromium, headless or not. Chrome on iOS is WebKit, and has another name. */
export const isChromium = () => /Chrom(e|ium)\//.test(agent());

/** Returns whether this is WebKit, as all browsers of iOS are. Chromium also names it. */
export const isWebKit = () => /AppleWebKit\//.test(agent()) && !isChromium();
