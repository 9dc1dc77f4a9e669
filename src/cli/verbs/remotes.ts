import { homedir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { CodedError, isCoded } from '../../base/errors.ts';
import {
  changeRemote,
  noRemoteCalled,
  ownEntryFault,
  planRemote,
  readRemotes,
} from '../../config/remotes.ts';
import { readSettings, type Settings } from '../../config/settings.ts';
import { installTunnels, planTunnels } from '../../config/tunnels.ts';
import { type Fleet, fleetSchema } from '../../contract/http/fleet.ts';
import { rehearsal } from '../../contract/http/rehearsal.ts';
import { type Remote, remoteSchema } from '../../contract/operator-files.ts';
import { readInput, sentenceOfFault } from '../../contract/read-input.ts';
import { unifiedDiff } from '../../fibers/text-diff.ts';
import { readBuildStamp } from '../../platform/build-stamp.ts';
import { findExecutable } from '../../platform/find-executable.ts';
import { createRunner } from '../../platform/process.ts';
import { runtimeFolder } from '../../platform/runtime-folder.ts';
import type { ServiceSurroundings } from '../../platform/service-manager.ts';
import { argument, DRY_RUN, option, repeated } from '../command-line/options.ts';
import { formatTable } from '../command-line/output.ts';
import { rehearsed } from '../command-line/rehearsal.ts';
import { whileTelling } from '../command-line/spinner.ts';
import { type Answer, type CliContext, defineVerb, EXIT } from '../command-line/verb.ts';
import { connectDaemon } from '../daemon-client/client.ts';
import { thisHost } from '../find-fiber.ts';
import { findingLine, findingSchema } from './doctor/check.ts';
import { hostOf } from './doctor/host.ts';
import { ownEntryLine } from './fleet.ts';
import {
  type CheckSurroundings,
  checkRemote,
  presentBuild,
  type SeenByDaemon,
} from './remotes/check-remote.ts';
import { firstRows } from './remotes/first-rows.ts';
import { entryOf, type Newcomer } from './remotes/onboard.ts';

const changedSchema = z.object({ file: z.string(), remotes: z.array(z.string()) });

/** `svc remotes list|add|rm|check`: the other hosts in `remotes.json` (OPF-2); an invalid file is refused. */
export const list = defineVerb({
  summary: 'List the remotes',
  options: { configured: option('--configured', 'only those of remotes.json, which are all at present') },
  examples: [['svc remotes list --configured --json', 'the other hosts of remotes.json']],
  json: z.object({ remotes: z.array(remoteSchema) }),
  run(context) {
    const settings = readSettings(context.env);
    const { remotes } = readRemotes(settings);
    const own = ownEntryFault(settings, remotes, hostOf(settings));
    const table = formatTable(
      ['remote', 'ssh', 'address', 'pinned to'],
      remotes.map(({ name, ssh, socket, url, port, build }) => [
        name,
        ssh ?? '-',
        socket ?? url ?? `http://127.0.0.1:${port}`,
        build ?? '-',
      ]),
      context.width,
    );
    return {
      json: { remotes },
      text: remotes.length === 0 ? 'No remote.\n' : `${table}${ownEntryLine(own)}`,
    };
  },
});

export const add = defineVerb({
  summary: 'Add a remote, or replace the one of that name',
  arguments: {
    name: argument(
      '<name>',
      'host id of the remote, as its fibers name it; or user@host, to find its daemon by ssh',
    ),
  },
  options: {
    ssh_flag: repeated('--ssh-flag <flag>', 'with user@host: a further argument of ssh'),
    ssh: option('--ssh <alias>', 'alias for ssh'),
    socket: option('--socket <path>', 'Unix socket where its daemon answers, as the near end of a tunnel'),
    url: option('--url <url>', 'address of its daemon, where it is reached without a tunnel'),
    port: option('--port <port>', 'local port of the tunnel'),
    remote_port: option('--remote-port <port>', 'port that its daemon listens on'),
    display: option('--display <name>', 'name on the board'),
    pin: option('--pin', 'use it only while its daemon is of the build that it is now'),
    dry_run: DRY_RUN,
  },
  examples: [
    ['svc remotes add me@host-b.example', 'finds its daemon, and has a tunnel to it kept up'],
    ['svc remotes add host-b --ssh host-b-login --port 4001', 'reached by a tunnel from port 4001'],
  ],
  json: changedSchema,
  async run(context, { json: _json, dry_run, pin: pins = false, ssh_flag = [], ...given }) {
    if (given.name.includes('@'))
      return addBySsh(context, { alias: given.name, flags: ssh_flag, pins }, dry_run === true);
    const remote = remoteOf(given);
    if (given.name === thisHost(context))
      throw new CodedError(
        'invalid_request',
        `${given.name} is this host, and a remote is another one; nothing was written`,
      );
    const fix = 'See that its daemon runs and that the address leads to it, or add it without --pin';
    const pinned = pins ? await asItIsNow(context, remote, fix) : remote;
    return change(context, given.name, pinned, dry_run === true);
  },
});

export const pin = defineVerb({
  summary: 'Use a remote only while its daemon is of the build that it is now',
  arguments: { name: argument('<name>', 'host id of the remote') },
  options: { remove: option('--remove', 'any build will do again'), dry_run: DRY_RUN },
  examples: [
    ['svc remotes pin host-b', 'pins its build, also after an upgrade that was meant'],
    ['svc remotes pin host-b --remove', 'no longer'],
  ],
  page: 'other-hosts.md',
  json: changedSchema.extend({ build: z.string().nullable() }),
  async run(context, { name, remove = false, dry_run = false }) {
    const settings = readSettings(context.env);
    const { remotes } = readRemotes(settings);
    const remote = remotes.find((one) => one.name === name);
    if (remote === undefined)
      throw noRemoteCalled(
        name,
        remotes.map((one) => one.name),
      );
    const fix = `See why: svc remotes check ${name}`;
    const changed = remove ? { ...remote, build: undefined } : await asItIsNow(context, remote, fix);
    if (dry_run) return change(context, name, changed, true);
    const { file, names } = await changeRemote(settings, name, changed);
    const { build = null } = changed;
    const what =
      build === null ? 'may be of any build' : `is used only while its daemon is of build ${build}`;
    return { json: { file, remotes: names, build }, text: `${name} ${what}.\n` };
  },
});

/** A remote with the build of its daemon pinned; `fix` is for one that does not answer. */
async function asItIsNow({ env }: CliContext, remote: Remote, fix: string): Promise<Remote> {
  return { ...remote, build: await presentBuild(remote, fleetOfDaemon(readSettings(env)), fix) };
}

export const rm = defineVerb({
  summary: 'Remove a remote',
  arguments: { name: argument('<name>', 'host id of the remote') },
  options: { dry_run: DRY_RUN },
  examples: [['svc remotes rm host-b', 'the last one takes the file away']],
  json: changedSchema,
  asks: () => true,
  run: (context, { name, dry_run }) => change(context, name, null, dry_run === true),
});

const checkedSchema = z.object({
  ok: z.boolean(),
  remotes: z.array(z.object({ name: z.string(), findings: z.array(findingSchema) })),
});

export const check = defineVerb({
  summary: 'Say how far each remote can be reached, and how to fix what fails',
  arguments: { names: argument('[name...]', 'host ids of remotes; all of them unless given') },
  examples: [['svc remotes check host-b', 'SSH, the daemon there, its host id and its build']],
  page: 'other-hosts.md',
  json: checkedSchema,
  exits: { 1: 'a check failed' },
  async run(context, { names = [] }) {
    const settings = readSettings(context.env);
    const { remotes } = readRemotes(settings);
    const unknown = names.find((name) => !remotes.some((remote) => remote.name === name));
    if (unknown !== undefined)
      throw noRemoteCalled(
        unknown,
        remotes.map(({ name }) => name),
      );
    const surroundings = await surroundingsOf(context);
    const seenByDaemon = fleetOfDaemon(settings);
    const wanted = remotes.filter(({ name }) => names.length === 0 || names.includes(name));
    const checked = await whileTelling(context, 'The other hosts are asked', () =>
      Promise.all(
        wanted.map(async (remote) => ({
          name: remote.name,
          findings: await checkRemote(remote, surroundings, seenByDaemon),
        })),
      ),
    );
    const ok = checked.every(({ findings }) => findings.every(({ level }) => level !== 'fail'));
    const page = checked.map(({ name, findings }) => `${name}\n${findings.map(findingLine).join('')}`);
    return {
      json: { ok, remotes: checked },
      text: checked.length === 0 ? 'No remote.\n' : page.join('\n'),
      exit: ok ? EXIT.ok : EXIT.refused,
    };
  },
});

async function surroundingsOf(context: CliContext): Promise<CheckSurroundings> {
  const { env } = context;
  const ssh = await findExecutable('ssh', env.PATH ?? '');
  return { env, ssh, runner: createRunner(), own: readBuildStamp(), host: thisHost(context) };
}

/** What the daemon of this host says of its remotes; it is asked at most once, when somebody wants to know. */
function fleetOfDaemon(settings: Settings): SeenByDaemon {
  let fleet: Promise<Fleet | null> | null = null;
  const ask = () =>
    connectDaemon(settings)
      .then((daemon) => daemon.get('/fleet', fleetSchema))
      .catch(() => null);
  return async (name) => {
    fleet ??= ask();
    const rows = (await fleet)?.remotes ?? [];
    return rows.find((row) => row.name === name && row.source === 'file') ?? null;
  };
}

async function change(
  context: CliContext,
  name: string,
  remote: Remote | null,
  dry_run: boolean,
): Promise<Answer> {
  const settings = readSettings(context.env);
  if (dry_run) {
    const { file, change: planned } = planRemote(settings, name, remote);
    const diff = unifiedDiff('remotes.json', planned.before, planned.after);
    const would = remote === null ? `take ${name} out of ${file}` : `write ${file}`;
    const shown =
      diff === '' ? rehearsal('write nothing') : rehearsal(would, { documents: [{ path: file, diff }] });
    return rehearsed(shown);
  }
  const { file, names } = await changeRemote(settings, name, remote);
  return {
    json: { file, remotes: names },
    text: `${file}: ${names.length === 0 ? 'no remote' : names.join(', ')}\n`,
  };
}

/** Finds the daemon of a host by SSH, writes its entry, and has its tunnel kept up where something here can. */
async function addBySsh(context: CliContext, newcomer: Newcomer, dry_run: boolean): Promise<Answer> {
  const { env } = context;
  if (newcomer.alias.startsWith('-'))
    throw new CodedError('invalid_request', 'a host may not begin with a dash');
  const settings = readSettings(env);
  const folder = join(runtimeFolder(settings.runtime_dir, env), 'tunnels');
  const surroundings = await surroundingsOf(context);
  const remote = await entryOf(newcomer, folder, surroundings);
  const { name } = remote;
  if (name === surroundings.host)
    throw new CodedError('invalid_request', `${newcomer.alias} is this host, ${name}; nothing was written`);
  requireSameHost(readRemotes(settings).remotes, remote);
  const written = await change(context, name, remote, dry_run);
  if (dry_run) return written;
  const home = env.HOME ?? homedir();
  const here = {
    platform: process.platform,
    env,
    home,
    uid: process.geteuid?.() ?? 0,
    runner: createRunner(),
  };
  const next = await connected({ ...remote }, here, context);
  return { ...written, text: `${written.text}${next}\n` };
}

/** A host says itself what it is called: what is meant for one that is known goes to no other that calls itself so. */
function requireSameHost(known: readonly Remote[], { name, ssh }: Remote): void {
  const before = known.find((one) => one.name === name);
  if (before === undefined || before.ssh === ssh) return;
  const reached = before.ssh === undefined ? 'and not by ssh' : `as ${before.ssh}`;
  throw new CodedError(
    'conflict',
    `${ssh} calls itself ${name}, which is a remote already, reached ${reached}; nothing was written. If it is the same host, run svc remotes rm ${name} first`,
  );
}

/** Has the tunnel of a new remote kept up, and answers its first fibers, or what a person does next. */
async function connected(
  remote: Remote,
  here: ServiceSurroundings,
  { clock, width }: Pick<CliContext, 'clock' | 'width'>,
): Promise<string> {
  const { name } = remote;
  try {
    await installTunnels(await planTunnels([remote], [name], here));
  } catch (error) {
    if (!isCoded(error)) throw error;
    return `Its tunnel is not up yet: ${error.message}`;
  }
  const first = await firstRows(remote, clock, width);
  return 'page' in first
    ? `Its tunnel is kept up by the service manager.\n\n${first.page}`
    : `The service manager keeps its tunnel up, but nothing came through it yet: ${first.why}. See why: svc remotes check ${name}`;
}

function remoteOf(words: Readonly<Record<string, string | undefined>>): Remote {
  const { port, remote_port } = words;
  const number = (text: string | undefined) => (text === undefined ? undefined : Number(text));
  const given = { ...words, port: number(port), remote_port: number(remote_port) };
  const named = Object.entries(given).filter(([, value]) => value !== undefined);
  const remote = readInput(remoteSchema, Object.fromEntries(named));
  if (remote.success) return remote.data;
  throw new CodedError('invalid_request', sentenceOfFault(remote.faults[0], 'the remote'));
}
