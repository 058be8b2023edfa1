/** Describes the browser and its device, as far as the browser reports it, for shared figures. */

export interface Device {
  /** Such as `Chromium 141, Linux`. */
  readonly browser: string;
  /** Logical cores, as far as the browser says. */
  readonly cores?: number;
  /** GiB, rounded; only Chromium reports it. */
  readonly memory?: number;
}

interface Brands {
  readonly brands: readonly { readonly brand: string; readonly version: string }[];
  readonly platform: string;
}

/** Names of browsers in `userAgent`, the most specific first: most browsers claim to be several. */
const NAMES = [
  [/\bEdg\/(\d+)/, 'Edge'],
  [/\bOPR\/(\d+)/, 'Opera'],
  [/\bFirefox\/(\d+)/, 'Firefox'],
  [/\bFxiOS\/(\d+)/, 'Firefox for iOS'],
  [/\bCriOS\/(\d+)/, 'Chrome for iOS'],
  [/\bChrome\/(\d+)/, 'Chromium'],
  [/\bVersion\/(\d+(?:\.\d+)?).*\bSafari\//, 'Safari'],
  [/\bAppleWebKit\/(\d+)/, 'WebKit'],
] as const;

const SYSTEMS = [
  [/\b(?:iPhone|iPad|iPod)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
] as const;

/** Returns the name of the browser in a `userAgent`. */
export function browserOf(userAgent: string): string {
  const found = NAMES.find(([pattern]) => pattern.test(userAgent));
  const version = found?.[0].exec(userAgent)?.[1];
  const system = SYSTEMS.find(([pattern]) => pattern.test(userAgent))?.[1];
  // Browsers that are not Apple's call themselves Safari, too.
  const name = found?.[1] === 'Safari' && system === 'Linux' ? 'WebKitGTK' : found?.[1];
  const browser = name === undefined ? 'unknown browser' : `${name} ${version}`;
  return system === undefined ? browser : `${browser}, ${system}`;
}

/** Describes this browser on this device. */
export function thisDevice(): Device {
  const { userAgent, hardwareConcurrency, deviceMemory, userAgentData } = navigator as Navigator & {
    deviceMemory?: number;
    userAgentData?: Brands;
  };
  // Readers should skip "Not;A=Brand"; the list has Chromium next to the browser's own name.
  const named = userAgentData?.brands.filter(({ brand }) => !/not.?a.?brand/i.test(brand)) ?? [];
  const own = named.find(({ brand }) => brand !== 'Chromium') ?? named[0];
  const browser =
    own === undefined
      ? browserOf(userAgent)
      : [`${own.brand} ${own.version}`, userAgentData?.platform].filter(Boolean).join(', ');
  return {
    browser,
    ...(hardwareConcurrency > 0 && { cores: hardwareConcurrency }),
    ...(deviceMemory !== undefined && { memory: deviceMemory }),
  };
}
