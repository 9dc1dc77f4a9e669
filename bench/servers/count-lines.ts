// Counts the lines of a file and of its rotated sibling, again and again: what reading them costs others at the least.

import { countLines } from '../count-lines.ts';

const [, , path = ''] = process.argv;
for (;;) countLines(path);
