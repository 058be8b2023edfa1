import { svelte } from '@sveltejs/vite-plugin-svelte';
import vue from '@vitejs/plugin-vue';
import { defineConfig } from 'vite';
import solid from 'vite-plugin-solid';

const PAGES = ['index', 'react', 'vue', 'svelte', 'solid', 'angular', 'cities'];

export default defineConfig(({ command }) => ({
  base: './',
  appType: 'mpa',
  // Vite compiles the TSX of React and the decorators of Angular by itself, as `tsconfig.json` says.
  plugins: [vue(), svelte({ configFile: false }), solid({ include: /\/src\/solid\// })],
  // Angular's own builder does the same: the output has no checks for developers.
  ...(command === 'build' && { define: { ngDevMode: 'false' } }),
  build: {
    target: 'es2022',
    // The page fetches the file of the cities unchanged.
    assetsInlineLimit: 0,
    // Angular's compiler is in its page.
    chunkSizeWarningLimit: 1000,
    rolldownOptions: {
      input: PAGES.map((page) => `${page}.html`),
      // `use client` is for servers that render React, so no effect is lost here.
      onLog: (level, log, handle) => log.code !== 'MODULE_LEVEL_DIRECTIVE' && handle(level, log),
    },
  },
}));
