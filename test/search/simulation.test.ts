import { findsNothing } from './finds-nothing.ts';
import * as simulation from './simulation/search.ts';

findsNothing(simulation);
