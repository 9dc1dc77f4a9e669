import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { buildBoard } from '../../ops/scripts/build-board.mjs';
import { type BoardSizes, BUDGETS, boardSizes } from '../kit/board-sizes.ts';
import { scratchFolder } from '../kit/scratch-folder.ts';

it('the board weighs no more than its budgets', () => {
  const scratch = scratchFolder();
  onTestFinished(scratch.remove);
  const folder = join(scratch.path, 'board');
  buildBoard(folder);
  const sizes = boardSizes(folder);
  const heavier = (Object.keys(BUDGETS) as (keyof BoardSizes)[]).filter((one) => sizes[one] > BUDGETS[one]);
  expect(heavier, JSON.stringify(sizes)).toEqual([]);
  // What is not found weighs nothing.
  for (const size of Object.values(sizes)) expect(size).toBeGreaterThan(1);
});
