import { CodedError } from '../../base/errors.ts';
import { readSettings } from '../../config/settings.ts';
import { setAgentEffort } from '../../harness/agent-effort.ts';
import { hideEnv } from '../../harness/registry.ts';
import { printJson } from '../output.ts';
import { EXIT, type Verb } from '../verb.ts';

/** `svc agents effort <id> <level>|--reset`: the default effort of one agent (WPL-17); the next launch uses it. */
export const registerEffort: Verb['register'] = (command, context, exit) => {
  command
    .command('effort')
    .description('Set the default effort of an agent')
    .argument('<id>', 'id or alias')
    .argument('[level]', 'one of its effort levels')
    .option('--reset', 'let it have its own again')
    .option('--json', 'answer as JSON')
    .action(async (id: string, level: string | undefined, options: { reset?: boolean; json?: boolean }) => {
      // An option of both is taken by the command above.
      const json = options.json === true || command.opts<{ json?: boolean }>().json === true;
      if ((level === undefined) === (options.reset !== true))
        throw new CodedError('invalid_request', 'name either a level or --reset');
      const agent = await setAgentEffort(readSettings(context.env), id, level ?? null);
      if (json) printJson(context, { agent: hideEnv(agent) });
      else context.out(`${agent.id}: ${agent.default_effort ?? 'its own effort'}\n`);
      exit(EXIT.ok);
    });
};
