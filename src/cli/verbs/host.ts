import { hostname } from 'node:os';
import { z } from 'zod';
import { resolveHostId } from '../../config/host-identity.ts';
import { readSettings } from '../../config/settings.ts';
import { CONTRACT_LEVEL } from '../../contract/level.ts';
import { defineVerb } from '../command-line/verb.ts';

/** `svc host`: the host id that fibers name in `svc.host`, and its source (DSP-3). Writes nothing. */
export const hostVerb = (options: { hostname: () => string }) =>
  defineVerb({
    summary: 'Print the host id of this machine',
    examples: [['svc host --json', 'the host id and where it comes from']],
    json: z.object({
      host: z.string(),
      source: z.enum(['environment', 'file', 'os']),
      contract: z.number(),
    }),
    run(context) {
      const settings = readSettings(context.env);
      const identity = resolveHostId(settings, { hostname: options.hostname(), persist: false });
      return { json: { ...identity, contract: CONTRACT_LEVEL }, text: `${identity.host}\n` };
    },
  });

export const verb = hostVerb({ hostname });
