import { hostname } from 'node:os';
import { resolveHostId } from '../../config/host-identity.ts';
import { readSettings } from '../../config/settings.ts';
import { CONTRACT_LEVEL } from '../../contract/level.ts';
import { EXIT, type Verb } from '../command-line/verb.ts';

/** `svc host`: the host id that fibers name in `svc.host`, and where it comes from (DSP-3). Writes nothing. */
export function createHostVerb(options: { hostname: () => string }): Verb {
  return {
    name: 'host',
    summary: 'Print the host id of this machine',
    register(command, context, exit) {
      command.option('--json', 'answer as JSON').action((flags: { json?: boolean }) => {
        const settings = readSettings(context.env);
        const identity = resolveHostId(settings, { hostname: options.hostname(), persist: false });
        context.out(
          flags.json === true
            ? `${JSON.stringify({ ...identity, contract: CONTRACT_LEVEL }, null, 2)}\n`
            : `${identity.host}\n`,
        );
        exit(EXIT.ok);
      });
    },
  };
}

export const verb: Verb = createHostVerb({ hostname });
