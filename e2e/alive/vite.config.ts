import { fileURLToPath } from 'node:url';
import bench from '../bench/vite.config.js';

// Served like the benchmarks: the same headers, so the same clock.
export default { ...bench, root: fileURLToPath(new URL('page', import.meta.url)) };
