import { dirname, join } from 'node:path';
import { BUDGETS, boardSizes } from '../../test/kit/board-sizes.ts';
import { launcherOf } from '../built-package.ts';
import { type Bench, judged } from '../frame.ts';

const NAMES = {
  first: 'scripts of the Desk',
  styles: 'style sheets of the Desk',
  fonts: 'fonts of the Desk',
  fiber: 'the sheet of a fiber, more than the Desk',
  day: 'the Day, more than the Desk',
  settings: 'settings with the editor, more than the Desk',
};

export const bench: Bench = {
  name: 'board-sizes',
  question: 'how many bytes does a page load, after gzip?',
  run: async () => {
    const sizes = boardSizes(join(dirname(launcherOf('package')), '../../dist/board'));
    return (Object.keys(NAMES) as (keyof typeof NAMES)[]).map((one) =>
      judged({ name: NAMES[one], value: sizes[one], unit: 'kB' }, { most: BUDGETS[one] }),
    );
  },
};
