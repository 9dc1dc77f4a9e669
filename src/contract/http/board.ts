import { z } from 'zod';

/** `GET /`: of the query, what decides which page is served; the rest of it is for that page. */
export const boardQuerySchema = z.object({ view: z.string().optional() });
