// Looks at pages as people read them: in several sizes and colours, with axe's objections, and whether they fit.

import { fileURLToPath } from 'node:url';

const AXE = fileURLToPath(import.meta.resolve('axe-core/axe.min.js'));

export const SIZES = { desktop: { width: 1280, height: 800 }, phone: { width: 390, height: 844 } };
export const SCHEMES = ['light', 'dark'];

export const go = (page, name) => page.goto(`${process.env.SITE_URL}/${name}`);

/** Lists axe's objections, in words. */
export async function faultsOf(page) {
  if (!(await page.evaluate(() => 'axe' in window))) await page.addScriptTag({ path: AXE });
  const { violations } = await page.evaluate(() => window.axe.run());
  return violations.map(
    ({ id, help, nodes }) =>
      `${id}: ${help}: ${nodes.map(({ target }) => target.join(' ')).slice(0, 4)}`,
  );
}

/** Returns how much wider the page is than the screen. */
export const overhang = (page) =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

/** Lists the faults of a page in its current state, in each size and each scheme. */
export async function faultsEverywhere(page, shot) {
  const faults = [];
  for (const [size, viewport] of Object.entries(SIZES)) {
    await page.setViewportSize(viewport);
    for (const colorScheme of SCHEMES) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      // Colours change by a transition.
      await page.waitForTimeout(400);
      await shot?.(`${size}-${colorScheme}`);
      const found = await faultsOf(page);
      const wider = await overhang(page);
      if (wider !== 0) found.push(`${wider} pixels wider than the screen`);
      faults.push(...found.map((fault) => `${size}, ${colorScheme}: ${fault}`));
    }
  }
  return faults;
}

/** Takes pictures into the folder `SITE_SHOTS`, if it is set. */
export function shots(page, name) {
  const folder = process.env.SITE_SHOTS;
  if (!folder) return undefined;
  return (what) => page.screenshot({ path: `${folder}/${name}-${what}.png`, fullPage: true });
}
