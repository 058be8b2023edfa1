/** Which engine this is, by its name, where no feature tells what it does. */

const agent = () => globalThis.navigator?.userAgent ?? '';

/** Others say `like Gecko`. */
export const isGecko = () => /Gecko\/\d/.test(agent());

/** Headless, too. Of iOS, Chrome calls itself otherwise: it is WebKit. */
export const isChromium = () => /Chrom(e|ium)\//.test(agent());

/** All browsers of iOS are WebKit. Chromium names it, too, but is not. */
export const isWebKit = () => /AppleWebKit\//.test(agent()) && !isChromium();
