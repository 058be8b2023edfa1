import init from '@sqlite.org/sqlite-wasm';
import { serve } from './engine.js';

serve(init);
