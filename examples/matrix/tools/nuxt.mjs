export default {
  version: '4.5.2',
  cases: { 'page and server route': 'it asks for Node 22.19; of the two SvelteKit 2 is run' },
};
