import { useData, withBase } from 'vitepress';
import DefaultTheme from 'vitepress/theme';
import { defineAsyncComponent, h, nextTick, onMounted, watch } from 'vue';
import './style.css';

/** The hedge of the demo, below the first words of the home page. */
const hedge = () => h('div', { class: 'hedge', 'aria-hidden': 'true' });

const notFound = () =>
  h('main', { class: 'not-found' }, [
    h('p', { class: 'code' }, '404'),
    h('h1', 'There is no such page'),
    h('p', 'It may have moved. The search finds it by its words.'),
    h('p', h('a', { href: withBase('/') }, 'To the first page')),
  ]);

/** Marks a landmark on the first page: the theme has one only for the text of other pages. */
function markMain() {
  const { frontmatter } = useData();
  const mark = () => {
    const content = document.getElementById('VPContent');
    if (frontmatter.value.layout === 'home') content?.setAttribute('role', 'main');
    else content?.removeAttribute('role');
  };
  onMounted(mark);
  watch(frontmatter, () => nextTick(mark), { flush: 'post' });
}

export default {
  extends: DefaultTheme,
  // Their code comes only with their pages.
  enhanceApp: ({ app }) => {
    const part = (load) => defineAsyncComponent(load);
    app.component(
      'BrowserBenchmark',
      part(() => import('../../benchmark/BrowserBenchmark.vue')),
    );
    app.component(
      'PlayGround',
      part(() => import('../../playground/PlayGround.vue')),
    );
  },
  setup: () => {
    if (!import.meta.env.SSR) markMain();
  },
  Layout: () =>
    h(DefaultTheme.Layout, null, {
      'home-hero-after': hedge,
      'not-found': notFound,
    }),
};
