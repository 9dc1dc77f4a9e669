import { z } from 'zod';
import { commitLineSchema } from '../ledger.ts';

/** `GET /commits`: which session made each commit, oldest first, each commit once (TMP-3). */
export const commitsSchema = z.object({ host: z.string(), commits: z.array(commitLineSchema) });
