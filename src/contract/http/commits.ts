import { z } from 'zod';
import { commitLineSchema } from '../ledger.ts';
import { compositeOf } from './composite.ts';

/** `GET /commits`: which session made each commit, oldest first, each commit once (TMP-3). */
export const commitsSchema = z.object({ host: z.string(), commits: z.array(commitLineSchema) });

export const commitsCompositeSchema = compositeOf(commitsSchema);
export type CommitsComposite = z.infer<typeof commitsCompositeSchema>;
