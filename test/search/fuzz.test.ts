import { findsNothing } from './finds-nothing.ts';
import * as fuzz from './fuzz/search.ts';

findsNothing(fuzz);
