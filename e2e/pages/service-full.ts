/** A service worker with all of the library in one file. */
import * as hedgerow from 'hedgerow/full';
import { serve } from './service-scenario.js';

serve(hedgerow);
