import { FOR_PROGRAMS, type VerbTable } from './command-line/verb-table.ts';

/** Every verb of `svc`, under the headings and in the order of the help. */
export const VERBS: VerbTable = {
  'Start here': {
    demo: async () => (await import('./verbs/demo.ts')).verb,
    open: async () => (await import('./verbs/open.ts')).verb,
    doctor: async () => (await import('./verbs/doctor.ts')).verb,
    daemon: {
      summary: 'Run, start, stop and inspect the daemon',
      usage: '<run|start|stop|restart|status|logs|release|settings> [options]',
      verbs: {
        run: async () => (await import('./verbs/daemon/run.ts')).verb,
        start: async () => (await import('./verbs/daemon/start.ts')).verb,
        stop: async () => (await import('./verbs/daemon/stop.ts')).verb,
        restart: async () => (await import('./verbs/daemon/restart.ts')).verb,
        status: async () => (await import('./verbs/daemon/status.ts')).verb,
        logs: async () => (await import('./verbs/daemon/logs.ts')).verb,
        release: async () => (await import('./verbs/daemon/release.ts')).verb,
        settings: async () => (await import('./verbs/daemon/settings.ts')).verb,
      },
    },
    status: async () => (await import('./verbs/status.ts')).verb,
  },
  Tasks: {
    fiber: {
      summary: 'Make, read, edit and list fibers in a store',
      verbs: {
        init: async () => (await import('./verbs/fiber/init.ts')).verb,
        add: async () => (await import('./verbs/fiber/add.ts')).verb,
        edit: async () => (await import('./verbs/fiber/edit.ts')).verb,
        show: async () => (await import('./verbs/fiber/show.ts')).verb,
        ls: async () => (await import('./verbs/fiber/ls.ts')).verb,
        nest: async () => (await import('./verbs/fiber/nest.ts')).verb,
        rm: async () => (await import('./verbs/fiber/rm.ts')).verb,
        check: async () => (await import('./verbs/fiber/check.ts')).verb,
      },
    },
    search: async () => (await import('./verbs/search.ts')).verb,
    install: async () => (await import('./verbs/lifecycle.ts')).LIFECYCLE.install,
    repeat: async () => (await import('./verbs/lifecycle.ts')).LIFECYCLE.repeat,
    pin: async () => (await import('./verbs/lifecycle.ts')).LIFECYCLE.pin,
    reshape: async () => (await import('./verbs/lifecycle.ts')).LIFECYCLE.reshape,
    pause: async () => (await import('./verbs/lifecycle.ts')).LIFECYCLE.pause,
    resume: async () => (await import('./verbs/lifecycle.ts')).LIFECYCLE.resume,
    accept: async () => (await import('./verbs/lifecycle.ts')).LIFECYCLE.accept,
    close: async () => (await import('./verbs/lifecycle.ts')).LIFECYCLE.close,
    reopen: async () => (await import('./verbs/lifecycle.ts')).LIFECYCLE.reopen,
    'set-agent': async () => (await import('./verbs/lifecycle.ts')).LIFECYCLE['set-agent'],
    'set-model': async () => (await import('./verbs/lifecycle.ts')).LIFECYCLE['set-model'],
    'set-outcome': async () => (await import('./verbs/lifecycle.ts')).LIFECYCLE['set-outcome'],
    uninstall: async () => (await import('./verbs/lifecycle.ts')).LIFECYCLE.uninstall,
  },
  Workers: {
    ps: async () => (await import('./verbs/ps.ts')).verb,
    attach: async () => (await import('./verbs/attach.ts')).verb,
    capture: async () => (await import('./verbs/capture.ts')).verb,
    claim: async () => (await import('./verbs/claim.ts')).verb,
    dispatch: async () => (await import('./verbs/dispatch.ts')).verb,
    why: async () => (await import('./verbs/why.ts')).verb,
    log: async () => (await import('./verbs/log.ts')).verb,
    peers: async () => (await import('./verbs/peers.ts')).verb,
    send: async () => (await import('./verbs/send.ts')).verb,
    inbox: async () => (await import('./verbs/inbox.ts')).verb,
    kill: async () => (await import('./verbs/kill.ts')).verb,
    handoff: async () => (await import('./verbs/handoff.ts')).verb,
    'stop-all': async () => (await import('./verbs/stop-all.ts')).verb,
    'resume-all': async () => (await import('./verbs/resume-all.ts')).verb,
    incident: {
      alone: async () => (await import('./verbs/incident.ts')).list,
      verbs: {
        resume: async () => (await import('./verbs/incident.ts')).resume,
        dismiss: async () => (await import('./verbs/incident.ts')).dismiss,
      },
    },
  },
  'This machine': {
    fleet: async () => (await import('./verbs/fleet.ts')).verb,
    host: async () => (await import('./verbs/host.ts')).verb,
    agents: {
      alone: async () => (await import('./verbs/agents.ts')).verb,
      verbs: { effort: async () => (await import('./verbs/agents.ts')).effort },
    },
    remotes: {
      summary: 'List, add, check and remove the other hosts of this one',
      implied: 'list',
      verbs: {
        list: async () => (await import('./verbs/remotes.ts')).list,
        add: async () => (await import('./verbs/remotes.ts')).add,
        rm: async () => (await import('./verbs/remotes.ts')).rm,
        check: async () => (await import('./verbs/remotes.ts')).check,
      },
    },
    tunnels: {
      summary: 'Keep the SSH tunnels to other hosts up',
      implied: 'list',
      verbs: {
        list: async () => (await import('./verbs/tunnels.ts')).list,
        install: async () => (await import('./verbs/tunnels.ts')).install,
        remove: async () => (await import('./verbs/tunnels.ts')).remove,
        run: async () => (await import('./verbs/tunnels.ts')).run,
      },
    },
    completion: async () => (await import('./verbs/completion.ts')).completionOf(VERBS),
    'resolve-dir': async () => (await import('./verbs/resolve-dir.ts')).verb,
    setup: async () => (await import('./verbs/setup.ts')).verb,
  },
  [FOR_PROGRAMS]: {
    hook: {
      summary: 'Record an event of an agent program or Git',
      verbs: {
        event: async () => (await import('./verbs/hook.ts')).event,
        commit: async () => (await import('./verbs/hook.ts')).commit,
      },
    },
    'demo-agent': async () => (await import('./verbs/demo-agent.ts')).verb,
  },
};
