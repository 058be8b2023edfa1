/** A service worker with the library as pages have it. */
import * as hedgerow from 'hedgerow';
import { serve } from './service-scenario.js';

serve(hedgerow);
