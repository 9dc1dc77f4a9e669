import { findsNothing } from './finds-nothing.ts';
import * as tmuxOptions from './tmux-options/search.ts';

// About as long as each setting alone takes; the pairs are for `npm run search:faults`.
findsNothing(tmuxOptions, { total_ms: 15_000 });
