// Finds the browsers for tests other than Chromium, and installs them where possible. Uses only
// built-ins of Node, since `setup.mjs` needs it before `npm ci` has run.

import { existsSync } from 'node:fs';
import { installPackages } from './browser.mjs';
import { ask, CommandFailed } from './run.mjs';

const FIREFOX_PATHS = [
  '/usr/bin/firefox-esr',
  '/usr/bin/firefox',
  '/Applications/Firefox.app/Contents/MacOS/firefox',
];

const WEBKIT_VERSION = `
import gi
gi.require_version('Gtk', '3.0')
gi.require_version('WebKit2', '4.1')
from gi.repository import WebKit2 as w
print('.'.join(str(f()) for f in (w.get_major_version, w.get_minor_version, w.get_micro_version)))
`;

/** Returns the path and version of Firefox, or `undefined`. */
export function findFirefox() {
  const chosen = process.env.FIREFOX_PATH;
  if (chosen && !existsSync(chosen)) {
    throw new CommandFailed(`FIREFOX_PATH is ${chosen}, and there is no such file`);
  }
  for (const path of chosen ? [chosen] : FIREFOX_PATHS) {
    const version = existsSync(path) ? ask(path, ['--version']) : undefined;
    if (version !== undefined) return { path, version };
  }
  return undefined;
}

/** Returns the Python with the bindings of WebKitGTK, and its version; `undefined` without them or a screen. */
export function findWebKit() {
  // Debian's Python, for which Debian packages the bindings.
  const path = process.env.WEBKIT_PYTHON ?? '/usr/bin/python3';
  const version = existsSync(path) ? ask(path, ['-c', WEBKIT_VERSION]) : undefined;
  const hasScreen = ask('which', ['Xvfb']) !== undefined;
  return version !== undefined && hasScreen ? { path, version: `WebKitGTK ${version}` } : undefined;
}

/** The tools for `setup.mjs`. */
export const OTHER_ENGINES = [
  {
    name: 'firefox',
    find: () => findFirefox()?.version,
    install: () => installPackages(['firefox-esr']),
    advice: 'install Firefox (Debian: firefox-esr), and set FIREFOX_PATH if it is elsewhere',
  },
  {
    name: 'webkit',
    find: () => findWebKit()?.version,
    install: () =>
      installPackages([
        'python3-gi',
        'gir1.2-gtk-3.0',
        'gir1.2-webkit2-4.1',
        'webkit2gtk-driver',
        'xvfb',
      ]),
    advice:
      'install WebKitGTK 4.1 with its bindings for Python, and Xvfb (Debian: gir1.2-webkit2-4.1, xvfb)',
  },
];
