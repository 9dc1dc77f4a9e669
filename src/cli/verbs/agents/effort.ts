import { CodedError } from '../../../base/errors.ts';
import { readSettings } from '../../../config/settings.ts';
import { rehearsedFile } from '../../../fibers/rehearsed-write.ts';
import { planAgentEffort, setAgentEffort } from '../../../harness/agents/agent-effort.ts';
import { hideEnv } from '../../../harness/agents/registry.ts';
import { printJson } from '../../command-line/output.ts';
import { DRY_RUN, printRehearsal } from '../../command-line/rehearsal.ts';
import { EXIT, type Verb } from '../../command-line/verb.ts';

type Options = { reset?: boolean; dryRun?: boolean; json?: boolean };

/** `svc agents effort <id> <level>|--reset`: the default effort of one agent (WPL-17); the next launch uses it. */
export const registerEffort: Verb['register'] = (command, context, exit) => {
  command
    .command('effort')
    .description('Set the default effort of an agent')
    .argument('<id>', 'id or alias')
    .argument('[level]', 'one of its effort levels')
    .option('--reset', 'let it have its own again')
    .option(...DRY_RUN)
    .option('--json', 'answer as JSON')
    .action(async (id: string, level: string | undefined, options: Options) => {
      // An option of both is taken by the command above.
      const json = options.json === true || command.opts<{ json?: boolean }>().json === true;
      if ((level === undefined) === (options.reset !== true))
        throw new CodedError(
          'invalid_request',
          'name either a level or --reset; `svc agents` lists the agents',
        );
      if (options.dryRun === true) {
        const { path, before, after, agent } = planAgentEffort(readSettings(context.env), id, level ?? null);
        const would = `write the default effort of ${agent.id}`;
        printRehearsal(context, rehearsedFile(would, path, { before, after: after ?? before }), { json });
        exit(EXIT.ok);
        return;
      }
      const agent = await setAgentEffort(readSettings(context.env), id, level ?? null);
      if (json) printJson(context, { agent: hideEnv(agent) });
      else context.out(`${agent.id}: ${agent.default_effort ?? 'its own effort'}\n`);
      exit(EXIT.ok);
    });
};
