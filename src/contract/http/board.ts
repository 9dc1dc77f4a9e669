import { z } from 'zod';
import { referenceSchema } from './bounded.ts';

/** `GET /`: of the query, what decides which page is served; the rest of it is for that page. */
export const boardQuerySchema = z.object({ view: referenceSchema.optional() });
