import init from '@dolthub/doltlite-wasm';
import { serve } from './engine.js';

serve(init);
