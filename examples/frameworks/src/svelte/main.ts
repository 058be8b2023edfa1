import { mount } from 'svelte';
import { frame } from '../common/page.js';
import App from './App.svelte';

mount(App, { target: document.querySelector('#app')! });
await frame('svelte');
