/** Frames each app: with links to the others, and the lines of its code that name Hedgerow. */
import { glueOf } from './glue.js';

const PAGES = {
  react: 'React',
  vue: 'Vue',
  svelte: 'Svelte',
  solid: 'Solid',
  angular: 'Angular',
  cities: '171,075 rows',
};

/** The code of the apps, as written. */
const sources = import.meta.glob<string>('../{react,vue,svelte,solid,angular,cities}/*', {
  query: '?raw',
  import: 'default',
});

function element(tag: string, text: string, attributes: Readonly<Record<string, string>> = {}) {
  const made = document.createElement(tag);
  made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

/** Puts links above an app, and its glue below it. The app has the folder `page`. */
export async function frame(page: keyof typeof PAGES): Promise<void> {
  const app = document.querySelector('#app')!;
  const nav = element('nav', '', { 'aria-label': 'Apps' });
  nav.append(element('a', 'Overview', { href: './' }));
  for (const [name, title] of Object.entries(PAGES)) {
    const here: Record<string, string> = name === page ? { 'aria-current': 'page' } : {};
    nav.append(element('a', title, { href: `./${name}.html`, ...here }));
  }
  app.before(nav);
  const files = Object.keys(sources).filter((path) => path.startsWith(`../${page}/`));
  const texts = await Promise.all(files.sort().map((path) => sources[path]!()));
  const lines = texts.flatMap(glueOf);
  const footer = element('footer', '');
  footer.append(element('h2', `All the glue of this page: ${lines.length} lines`));
  footer.append(element('pre', lines.join('\n'), { tabindex: '0', 'aria-label': 'Glue' }));
  app.after(footer);
}
