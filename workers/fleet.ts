import { randomBytes } from 'node:crypto';
import { homedir } from 'node:os';
import { messageOf } from '../src/base/errors.ts';
import { dataPaths } from '../src/config/paths.ts';
import type { Settings } from '../src/config/settings.ts';
import { restartTunnel } from '../src/config/tunnels.ts';
import { remoteSchema } from '../src/contract/operator-files.ts';
import { fleetCalls, fleetEvents, type Remote, type TailnetNetwork } from '../src/contract/threads/fleet.ts';
import { Contacts } from '../src/fleet/contacts.ts';
import { CopyFiles } from '../src/fleet/copy-files.ts';
import { HttpTransport } from '../src/fleet/feed-transport.ts';
import { FleetFeeds } from '../src/fleet/fleet-feeds.ts';
import { createFleetService } from '../src/fleet/fleet-service.ts';
import { KeptFeeds } from '../src/fleet/kept-feeds.ts';
import { PresentRemotes } from '../src/fleet/present-remotes.ts';
import { readRemote } from '../src/fleet/read-remote.ts';
import type { ReachedAs } from '../src/fleet/remote-address.ts';
import { createRemoteReach } from '../src/fleet/remote-reach.ts';
import { RemoteReads } from '../src/fleet/remote-reads.ts';
import { createRemoteTranscripts } from '../src/fleet/remote-transcripts.ts';
import { remotesPath } from '../src/fleet/remotes-file.ts';
import { scribeIn } from '../src/fleet/scribe.ts';
import { toldCopies } from '../src/fleet/told-copies.ts';
import { threadDisks } from '../src/platform/foreign-paths.ts';
import { systemMonotonic } from '../src/platform/monotonic.ts';
import { createRunner } from '../src/platform/process.ts';
import { dialledAddress } from '../src/tailnet/dialled-address.ts';
import { TailnetDiscovery } from '../src/tailnet/tailnet.ts';
import { tailnetProgram } from '../src/tailnet/tailnet-program.ts';
import { WithParts, withBulk } from '../src/threads/bulk.ts';
import { runComponent } from '../src/threads/worker-main.ts';

await runComponent<Settings & { host_id: string }, typeof fleetCalls, typeof fleetEvents>({
  name: 'fleet',
  calls: fleetCalls,
  events: fleetEvents,
  async start({ settings, logger, clock, notify }) {
    const remotes_file = remotesPath(settings);
    const publish = (remotes: Remote[]) => notify('remotes_changed', { remotes });
    const { host_id } = settings;
    const transport = new HttpTransport({ host: host_id, clock });
    let network: TailnetNetwork | null = null;
    const reachedAs: ReachedAs = (address) => dialledAddress(address, network);
    const feeds = new FleetFeeds({
      kept: new KeptFeeds({
        files: new CopyFiles({ folder: dataPaths(settings).remote_feeds_dir, logger }),
        logger,
      }),
      ...{ host: host_id, nonce: randomBytes(8).toString('hex'), transport, clock, random: Math.random },
      monotonic: systemMonotonic,
      async lookUp(name) {
        await service.look();
        return service.remotes().find((one) => one.name === name) ?? null;
      },
      async restartTunnel(name) {
        const { env, platform } = process;
        const here = {
          env,
          platform,
          home: homedir(),
          uid: process.geteuid?.() ?? 0,
          runner: createRunner(),
        };
        try {
          const entry = service.entries().find((one) => one.name === name);
          if (entry === undefined) return false;
          const restarted = await restartTunnel(remoteSchema.parse(entry), here);
          if (restarted) logger.info({ remote: name }, 'the tunnel to a remote was restarted');
          return restarted;
        } catch (error) {
          logger.warn({ remote: name, err: messageOf(error) }, 'its tunnel could not be restarted');
          return false;
        }
      },
      tell: (tag) => notify('feeds_changed', { tag }),
      tellSilent: (silent) => notify('silent_changed', { silent }),
    });
    const tailnet = new TailnetDiscovery({
      enabled: settings.discovery === 'auto',
      listens: settings.tailnet_listen === 'on',
      interval_ms: settings.discovery_interval_ms,
      port: settings.tailnet_port,
      host: host_id,
      program: tailnetProgram({
        configured: settings.tailnet_socket,
        runner: createRunner(),
        env: process.env,
      }),
      ...{ clock, logger },
      tell(known) {
        network = known.network;
        service.reach();
        notify('tailnet_changed', known);
      },
    });
    const service = createFleetService({ remotes_file, reachedAs, publish, feeds, clock, logger });
    await service.look();
    void tailnet.run();
    const reach = createRemoteReach({
      ...{ host: host_id, reachedAs },
      entriesNow: () => service.entriesNow(),
      refuseSilent: (host, writes) => feeds.refuseSilent(host, writes),
    });
    const transcripts = createRemoteTranscripts({ host: host_id, remoteAt: reach.remoteAt });
    const contacts = new Contacts(clock, (name) => feeds.refuseChanged(name));
    const remotes = () => service.remotes().filter(({ name }) => name !== host_id);
    const present = new PresentRemotes({
      host: host_id,
      remotes,
      entries: () => service.entries(),
      discovered: () => tailnet.found(),
      contacts,
      standings: () => feeds.standings(),
      answer_ms: settings.remote_answer_ms,
      clock,
    });
    const reads = new RemoteReads({
      ask: (to, path, etag) => contacts.ask(to.name, () => readRemote(host_id, to, path, etag)),
      remotes,
      buildOf: (name) => feeds.buildOf(name),
      files: new CopyFiles({ folder: dataPaths(settings).remote_temporal_dir, logger }),
      times: {
        reuse_ms: settings.remote_reuse_ms,
        answer_ms: settings.remote_answer_ms,
        stale_ms: settings.remote_stale_ms,
      },
      clock,
    });
    return {
      handlers: {
        state: () => service.state(),
        feeds({ since }) {
          const found = feeds.since(since);
          const all = Buffer.concat((found ?? []).flatMap(({ bytes }) => bytes ?? []));
          const told = found?.map(({ bytes, ...read }) => ({ ...read, length: bytes?.length ?? null }));
          return withBulk({ tag: feeds.tag, reads: told ?? null }, all);
        },
        feed_copies({ had }) {
          const { reads, parts } = toldCopies(feeds.copies(), feeds.changeOf(had));
          return new WithParts({ tag: feeds.tag, reads }, parts);
        },
        stores: () => ({ origins: feeds.stores() }),
        ask_again({ name }) {
          feeds.askAgain(name);
          return {};
        },
        reset_remote: ({ name, dry_run }) => feeds.reset(name, dry_run ?? false),
        write_to_host: ({ host, path, body }) => reach.writeTo(host, path, body),
        ssh_alias: ({ host }) => reach.sshAlias(host),
        scribe: (query) => ({ scribe: scribeIn(feeds.copies(), query) }),
        ssh_target: ({ host }) => reach.sshTarget(host),
        resume_session: ({ host, session }) => reach.resumeSession(host, session),
        transcript: ({ host, session, hops }) => transcripts.transcript(host, session, hops),
        session_links: ({ host, sessions, hops }) => transcripts.links(host, sessions, hops),
        async remote_peers() {
          const { sessions, gaps } = await present.peers();
          return withBulk({ gaps }, Buffer.from(JSON.stringify(sessions).slice(1, -1)));
        },
        rows: async () => ({ rows: await present.rows() }),
        async remote_reads({ asked, known }) {
          const found = await reads.read(asked, new Set(known));
          const all = Buffer.concat(found.flatMap(({ bytes }) => bytes ?? []));
          const told = found.map(({ bytes, ...read }) => ({ ...read, length: bytes?.length ?? null }));
          return withBulk({ reads: told }, all);
        },
      },
      async stop() {
        tailnet.stop();
        service.stop();
        feeds.stop();
        transport.stop();
        threadDisks().stop();
      },
    };
  },
});
