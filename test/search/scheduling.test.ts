import { findsNothing } from './finds-nothing.ts';
import { mildSearch, name } from './scheduling/search.ts';

findsNothing({ name, search: mildSearch });
