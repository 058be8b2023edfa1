import { createApp } from 'vue';
import { frame } from '../common/page.js';
import App from './App.vue';

createApp(App).mount('#app');
await frame('vue');
