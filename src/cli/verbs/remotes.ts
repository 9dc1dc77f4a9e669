import { CodedError } from '../../base/errors.ts';
import { changeRemote, planRemote, readRemotes } from '../../config/remotes.ts';
import { readSettings } from '../../config/settings.ts';
import { rehearsal } from '../../contract/http/rehearsal.ts';
import { type Remote, remoteSchema } from '../../contract/operator-files.ts';
import { unifiedDiff } from '../../fibers/text-diff.ts';
import { formatTable, printJson } from '../command-line/output.ts';
import { DRY_RUN, printRehearsal } from '../command-line/rehearsal.ts';
import { type CliContext, EXIT, type Verb } from '../command-line/verb.ts';

type Flags = { json?: boolean; dryRun?: boolean };
type AddOptions = Flags & {
  ssh?: string;
  url?: string;
  port?: string;
  remotePort?: string;
  display?: string;
};

/** `svc remotes list|add|rm`: the other hosts of `remotes.json` (OPF-2); a file that cannot be used is refused. */
export const verb: Verb = {
  name: 'remotes',
  summary: 'List, add and remove the other hosts that this one knows',
  register(command, context, exit) {
    command
      .command('list', { isDefault: true })
      .description('List the remotes')
      .option('--configured', 'those of the remotes file; there are no others yet')
      .option('--json', 'answer as JSON')
      .action((flags: Flags) => {
        list(context, flags);
        exit(EXIT.ok);
      });
    command
      .command('add')
      .description('Add a remote, or replace the one of that name')
      .argument('<name>', 'host id of the remote, as its fibers name it')
      .option('--ssh <alias>', 'alias for ssh')
      .option('--url <url>', 'address of its daemon, where no tunnel leads to it')
      .option('--port <port>', 'port of this machine that the tunnel leads from')
      .option('--remote-port <port>', 'port that its daemon listens on')
      .option('--display <name>', 'name on the board')
      .option(...DRY_RUN)
      .option('--json', 'answer as JSON')
      .action(async (name: string, options: AddOptions) => {
        await change(context, name, remoteOf(name, options), options);
        exit(EXIT.ok);
      });
    command
      .command('rm')
      .description('Remove a remote')
      .argument('<name>', 'host id of the remote')
      .option(...DRY_RUN)
      .option('--json', 'answer as JSON')
      .action(async (name: string, options: Flags) => {
        await change(context, name, null, options);
        exit(EXIT.ok);
      });
  },
};

function list(context: CliContext, flags: Flags): void {
  const { remotes } = readRemotes(readSettings(context.env));
  if (flags.json === true) printJson(context, { remotes });
  else if (remotes.length === 0) context.out('No remote.\n');
  else
    context.out(
      formatTable(
        ['remote', 'ssh', 'address'],
        remotes.map(({ name, ssh, url, port }) => [name, ssh ?? '-', url ?? `http://127.0.0.1:${port}`]),
      ),
    );
}

async function change(
  context: CliContext,
  name: string,
  remote: Remote | null,
  options: Flags,
): Promise<void> {
  const settings = readSettings(context.env);
  if (options.dryRun === true) {
    const { file, change: planned } = planRemote(settings, name, remote);
    const diff = unifiedDiff('remotes.json', planned.before, planned.after);
    const would = planned.after === null ? `remove ${file}` : `write ${file}`;
    const shown =
      diff === '' ? rehearsal('write nothing') : rehearsal(would, { documents: [{ path: file, diff }] });
    printRehearsal(context, shown, options);
    return;
  }
  const { file, names } = await changeRemote(settings, name, remote);
  if (options.json === true) printJson(context, { file, remotes: names });
  else context.out(`${file}: ${names.length === 0 ? 'no remote' : names.join(', ')}\n`);
}

function remoteOf(name: string, options: AddOptions): Remote {
  const port = (text: string | undefined) => (text === undefined ? undefined : Number(text));
  const given = {
    name,
    display: options.display,
    ssh: options.ssh,
    url: options.url,
    port: port(options.port),
    remote_port: port(options.remotePort),
  };
  const named = Object.entries(given).filter(([, value]) => value !== undefined);
  const remote = remoteSchema.safeParse(Object.fromEntries(named));
  if (remote.success) return remote.data;
  const [issue] = remote.error.issues;
  throw new CodedError('invalid_request', `${issue?.path.join('.')}: ${issue?.message}`);
}
