import { serve } from './serve.ts';
import { simulate } from './simulate.ts';

serve(simulate);
