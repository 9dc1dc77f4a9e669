import { findsNothing } from './finds-nothing.ts';
import * as gitOptions from './git-options/search.ts';

findsNothing(gitOptions, { total_ms: 20_000 });
