import { findsNothing } from './finds-nothing.ts';
import * as syscalls from './syscalls/search.ts';

findsNothing(syscalls);
