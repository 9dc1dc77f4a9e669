import { z } from 'zod';

/** `?origin=` of the reads that are routed by it: the id of the host whose data is meant (RTE-2, RTE-3). */
export const originQuerySchema = z.object({ origin: z.string().optional() });
