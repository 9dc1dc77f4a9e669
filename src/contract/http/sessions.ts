import { z } from 'zod';
import { sessionLineSchema } from '../ledger.ts';
import { compositeOf } from './composite.ts';

/** `GET /sessions`: which fiber each harness session belonged to, oldest first (TMP-2). */
export const sessionsSchema = z.object({ host: z.string(), sessions: z.array(sessionLineSchema) });

export const sessionsCompositeSchema = compositeOf(sessionsSchema);
export type SessionsComposite = z.infer<typeof sessionsCompositeSchema>;
