import { z } from 'zod';

/** `?origin=` of reads: the id of the host whose data is requested (RTE-2, RTE-3). */
export const originQuerySchema = z.object({ origin: z.string().optional() });
