import { noHeldDisk } from '../faults/held-disk.ts';
import { findsNothing } from './finds-nothing.ts';
import * as foreignPaths from './foreign-paths/search.ts';

findsNothing(foreignPaths, { total_ms: 15_000, skip: noHeldDisk !== null });
