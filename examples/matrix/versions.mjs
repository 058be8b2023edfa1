// Every version that the matrix runs, in one list. Tools that the root of the repository has, too, have the same
// version there.

export const VERSIONS = {
  // In the root.
  vite: '8.3.8',
  rolldown: '1.2.19',
  vitest: '4.1.12',
  jsdom: '29.1.1',
  'happy-dom': '21.0.4',
  'fake-indexeddb': '6.2.8',
  react: '19.3.1',
  'react-dom': '19.3.1',
  'better-sqlite3': '12.11.1',
  publint: '0.3.25',
  '@arethetypeswrong/core': '0.18.5',
  // Installed for the matrix alone.
  webpack: '5.112.2',
  'webpack-cli': '7.3.1',
  'webpack-dev-server': '5.2.7', // 6 asks for Node 22
  esbuild: '0.28.2',
  rollup: '4.68.8',
  '@rollup/plugin-node-resolve': '16.0.3',
  parcel: '2.16.4',
  next: '16.4.6',
  '@sveltejs/kit': '2.70.4', // 3 asks for Node 22
  '@sveltejs/vite-plugin-svelte': '7.3.1',
  '@sveltejs/adapter-node': '5.5.7',
  svelte: '5.57.3',
  jest: '30.5.2',
  'jest-environment-jsdom': '30.5.2',
  'vite-plugin-pwa': '2.0.0',
  bun: '1.4.5',
  deno: '2.9.6',
};

/** Compilers of TypeScript by their version, from the oldest that the types are for. */
export const TYPESCRIPTS = ['5.4.5', '5.7.3', '5.9.3', '7.0.2'];
