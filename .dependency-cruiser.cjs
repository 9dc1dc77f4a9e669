/**
 * Who may import whom. A room imports only from the rooms named for it; every rule says why.
 * Type-only imports count too: a type that climbs the table is a design that climbs it.
 */
const ROOMS = {
  base: [[], 'base is the floor: if it knew a room, that room could not be built on it'],
  contract: [
    ['base'],
    'the contract is shared with the board and with other hosts, so it may not drag in an implementation',
  ],
  platform: [
    ['base'],
    'the kernel and the OS know nothing of fibers, so these files can be judged on their own',
  ],
  config: [['base', 'contract', 'platform'], 'settings are read before any domain exists'],
  threads: [['base', 'contract'], 'supervision must be testable without the work that is supervised'],
  fibers: [
    ['base', 'contract', 'platform'],
    'the document store must be usable by the CLI with no daemon and no tmux',
  ],
  lifecycle: [['base', 'contract', 'fibers'], 'verbs are total functions over documents; they start nothing'],
  ledgers: [
    ['base', 'contract', 'platform'],
    'what happened is recorded whatever the dispatcher thinks of it',
  ],
  mux: [['base', 'platform'], 'the tmux driver can be replaced or tested without a fiber in sight'],
  harness: [
    ['base', 'contract', 'platform', 'config'],
    'an adapter describes an agent program; when to start it is not its business',
  ],
  dispatch: [
    ['base', 'contract', 'platform', 'config', 'threads', 'fibers', 'lifecycle', 'ledgers', 'mux', 'harness'],
    'the dispatcher stands on all of these and on nothing that serves requests',
  ],
  messages: [
    ['base', 'contract', 'platform', 'config', 'ledgers', 'mux', 'harness'],
    'delivery uses what a worker has, never the dispatcher’s decisions',
  ],
  meetings: [['base', 'contract', 'platform'], 'a recording goes on whatever happens to workers'],
  recorder: [
    ['base', 'contract', 'platform'],
    'a recorder is a process of its own, which records on whatever happens to the daemon',
  ],
  tailnet: [
    ['base', 'contract', 'platform'],
    'a private network is a way to other hosts, and knows nothing of what is asked of them',
  ],
  fleet: [
    ['base', 'contract', 'platform', 'config', 'tailnet'],
    'a hub merges bytes of other hosts and must not reach into local state',
  ],
  access: [['base', 'contract'], 'who may call is decided from values, so that a test can invent any caller'],
  http: [
    ['base', 'contract', 'platform', 'access'],
    'the kernel knows no domain, so it can be proved against the protocol alone',
  ],
  routes: [
    ['base', 'contract', 'http'],
    'handlers are given typed callers and can therefore not do work on the main thread',
  ],
  cli: [
    ['base', 'contract', 'platform', 'config', 'fibers', 'lifecycle', 'ledgers', 'harness', 'recorder'],
    'a verb is options, one call and an exit code',
  ],
};

const roomRules = Object.entries(ROOMS).map(([room, [allowed, reason]]) => ({
  name: `room-${room}`,
  comment: reason,
  severity: 'error',
  from: { path: `^src/${room}/` },
  to: {
    path: '^(src|workers)/',
    pathNot: [
      ...[room, ...allowed].map((name) => `^src/${name}/`),
      ...(room === 'cli' ? ['^src/daemon(-check)?[.]ts$'] : []),
    ],
  },
}));

/**
 * The layers of the dispatcher, lowest first. A layer imports only from those before it; the files at the top of the room
 * put them together.
 */
const DISPATCH_LAYERS = [
  ['run-directory', 'the files of one run are read and written without knowing what is decided by them'],
  [
    'world',
    'what the dispatcher needs of the machine and of documents is a type, so that tests put their own in',
  ],
  ['stores', 'documents are listed and written whatever runs'],
  ['run', 'a run is known by its own directory, whoever started it'],
  ['holds', 'what keeps starts back is remembered without knowing how a start is made'],
  ['edits', 'what a run writes into its document, and takes back, is the same for every way to start one'],
  [
    'plan',
    'what a worker is told and which conversation it goes on with is decided before anything is started',
  ],
  ['end', 'what follows from the end of a worker does not depend on who saw it end'],
  ['claims', 'a claim is judged by the same rules on every surface'],
  ['surfaces', 'a surface starts, watches and ends its workers, and knows nothing of the other one'],
  ['start', 'a start picks its surface; nothing below starts anything by itself'],
  ['due', 'the poller starts what is due, by the same door as a request'],
  ['requests', 'what callers ask stands on everything that the dispatcher can do'],
].map(([layer, reason], place, all) => ({
  name: `dispatch-${layer}`,
  comment: reason,
  severity: 'error',
  from: { path: `^src/dispatch/${layer}/` },
  to: {
    path: '^src/dispatch/',
    pathNot: all.slice(0, place + 1).map(([below]) => `^src/dispatch/${below}/`),
  },
}));

module.exports = {
  forbidden: [
    ...roomRules,
    ...DISPATCH_LAYERS,
    {
      name: 'a-surface-stands-alone',
      comment: 'a surface that imports another one is no longer added or changed by itself',
      severity: 'error',
      from: { path: '^src/dispatch/surfaces/([^/]+)/' },
      to: { path: '^src/dispatch/surfaces/[^/]+/', pathNot: '^src/dispatch/surfaces/$1/' },
    },
    {
      name: 'the-board-knows-the-contract-alone',
      comment:
        'the board runs in a browser, against any daemon that keeps the contract; and of the contract it takes types and words, so that no schema is bundled; what is escaped on a terminal is escaped in it too',
      severity: 'error',
      from: { path: '^board/' },
      to: { path: '^(src|workers)/', pathNot: '^src/(contract/|base/terminal-text\\.ts$)' },
    },
    {
      name: 'the-board-bundles-no-schema',
      comment: 'the schemas of the contract bring their library with them, which is larger than the Desk',
      severity: 'error',
      from: { path: '^board/' },
      to: {
        path: '^src/contract/',
        pathNot: '^src/contract/(end-words|launch-message|worker-stops)\\.ts$',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'the-model-of-the-board-is-pure',
      comment: 'what decides where a card stands is tested as tables, without a browser',
      severity: 'error',
      from: { path: '^board/src/model/' },
      to: { path: '^board/src/|node_modules/', pathNot: '^board/src/model/|node_modules/node-diff3/' },
    },
    {
      name: 'nothing-imports-the-board',
      comment: 'the daemon serves the built board as files and knows nothing of what is in them',
      severity: 'error',
      from: { path: '^(src|workers)/' },
      to: { path: '^board/' },
    },
    {
      name: 'no-rings',
      comment:
        'files that import each other in a ring, be it for a type, can only be understood, tested and changed together',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'nobody-imports-a-worker',
      comment:
        'a worker file is a thread’s entry; importing it would start a thread’s work in the wrong thread',
      severity: 'error',
      from: { path: '^(src|workers)/' },
      to: { path: '^workers/' },
    },
    {
      name: 'only-daemon-run-loads-the-daemon',
      comment:
        'a verb talks to a running daemon over HTTP; only `svc daemon run` becomes one, and loads it when it does',
      severity: 'error',
      from: { path: '^(src|workers)/', pathNot: '^src/cli/verbs/daemon/run[.]ts$' },
      to: { path: '^src/daemon[.]ts$' },
    },
    {
      name: 'only-daemon-restart-checks-a-boot',
      comment:
        'what a boot reads belongs to the daemon; `svc daemon restart` asks for it before it stops one that runs',
      severity: 'error',
      from: { path: '^(src|workers)/', pathNot: '^src/cli/verbs/daemon/restart[.]ts$' },
      to: { path: '^src/daemon-check[.]ts$' },
    },
    {
      name: 'only-http-knows-uwebsockets',
      comment:
        'what the server library gets wrong is mended in one room; a second importer would miss the mends',
      severity: 'error',
      // `svc doctor` loads it once, only to say whether it can be loaded here.
      from: { path: '^(src|workers)/', pathNot: '^src/http/|^src/cli/verbs/doctor/native-http[.]ts$' },
      to: { path: 'uWebSockets' },
    },
    {
      name: 'one-file-runs-processes',
      comment:
        'argv-only, bounded in time and output: the rules hold because one file starts child processes; what has no bound has a file of its own: a daemon that outlives us, a program that is given the terminal, the launcher; and what a hook asks of Git and of ps, for it loads no library',
      severity: 'error',
      from: {
        path: '^(src|workers)/',
        pathNot:
          '^src/platform/(process|piped-process|detached-process|interactive-process)[.]ts$|^src/cli/(launcher[.]mjs|hook/(run|agent-process)[.]cjs)$',
      },
      to: { path: '^(node:)?child_process$|node_modules/execa/' },
    },
    {
      name: 'threads-are-made-in-threads',
      comment:
        'only the threads room and the thread entries touch worker threads, so supervision cannot be bypassed',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/threads/' },
      to: { path: '^(node:)?worker_threads$|node_modules/piscina/' },
    },
    {
      name: 'kernels-are-pure',
      comment: 'a decision that can read a disk or a clock cannot be tested as a table',
      severity: 'error',
      from: {
        path: '^src/(dispatch|lifecycle)/.*(eligibility|quarantine|breaker|standing|prompt|resume|plan)[.]ts$',
      },
      to: { path: '^(node:)?(fs|child_process|worker_threads|net|http|os)(/|$)|^src/(mux|platform)/' },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  },
};
