/** What a person is told of one endpoint, and a request of it that can be typed. */
export type EndpointNote = {
  /** One line, without a full stop. */
  summary: string;
  /** What stands after the path, and what `:name` and `*name` stand for; a body as JSON. */
  example?: { params?: Record<string, string>; query?: string; body?: unknown };
  /** A session that ran on this host: without it the answer is an error. */
  needs?: 'session';
  /** The page of `ops/` that tells more. */
  page?: string;
};

const FIBER = 'say-hello';
const SESSION = '0198c0de-0000-4000-8000-000000000001';
const GIF = 'R0lGODlhAQABAAAAACH5BAEAAAAALAAAAAABAAEAAAI=';
const GIF_SHA256 = '853b983923a033223e4f391790e6e86619b31d542b40e7e1e8221fb0d6957ab1';

/** Notes of every endpoint by `METHOD path`; a test holds them against the route table. */
export const ENDPOINT_NOTES: Readonly<Record<string, EndpointNote>> = {
  'GET /api/v1/version': {
    summary: 'The build, the host, what is bound, how peers are told apart, and the components',
    page: 'daemon.md',
  },
  'GET /api/v1/state': {
    summary: 'Workers, blocked and held fibers, standing roles, poll health',
    page: 'why.md',
  },
  'GET /api/v1/fibers': {
    summary:
      'Every fiber of the polled stores; `svc` keeps this host’s own, `body` adds the bodies, `since` asks what changed',
    example: { query: 'svc=true' },
    page: 'http.md',
  },
  'GET /api/v1/fibers/*id': { summary: 'One fiber with its body', example: { params: { id: FIBER } } },
  'POST /api/v1/fiber/create': {
    summary: 'Makes a fiber',
    example: { body: { name: 'Say goodbye', body: 'Write GOODBYE.md.', dry_run: true } },
  },
  'POST /api/v1/fiber-edit': {
    summary: 'Edits a fiber; with `expected_digest` only as it was read',
    example: { body: { fiber_id: FIBER, outcome: 'Greets in two languages.' } },
  },
  'POST /api/v1/fiber-nest': {
    summary: 'Files a fiber under another one, or at the top for null',
    example: { body: { fiber_id: FIBER, parent: null } },
    page: 'lifecycle.md',
  },
  'POST /api/v1/dispatch': {
    summary: 'Starts a worker for a fiber now',
    example: { body: { fiber_id: FIBER, force: true, dry_run: true } },
    page: 'resume.md',
  },
  'POST /api/v1/kill': {
    summary: 'Stops the worker of a fiber',
    example: { body: { fiber_id: FIBER, dry_run: true } },
  },
  'POST /api/v1/quarantine/release': {
    summary: 'Lets start what the last start of the daemon held back',
    example: { body: {} },
  },
  'POST /api/v1/brake': {
    summary: 'The emergency brake: nothing new starts on this host',
    example: { body: { note: 'the disk is full', dry_run: true } },
    page: 'why.md',
  },
  'POST /api/v1/brake/release': { summary: 'Lets work start again', example: { body: {} }, page: 'why.md' },
  'GET /api/v1/why': {
    summary: 'Why the poller does not start a fiber now, gate by gate',
    example: { query: `fiber=${FIBER}` },
    page: 'why.md',
  },
  'POST /api/v1/lifecycle': {
    summary: 'Runs one verb of the service on a fiber; answers the text that the command prints',
    example: { body: { fiber: FIBER, action: 'pause', dry_run: true } },
    page: 'lifecycle.md',
  },
  'POST /api/v1/transition': {
    summary: 'Moves a fiber to a column of the board',
    example: { body: { fiber_id: FIBER, target: 'drafts', dry_run: true } },
    page: 'lifecycle.md',
  },
  'POST /api/v1/incidents/resume': {
    summary: 'Starts again what a lost tmux server cut off',
    example: { body: {} },
    page: 'setup.md',
  },
  'POST /api/v1/incidents/dismiss': {
    summary: 'Takes incidents off the list',
    example: { body: {} },
    page: 'setup.md',
  },
  'POST /api/v1/capture': {
    summary: 'Starts a worker that makes a fiber of a text and takes it up',
    example: { body: { prompt: 'Load the data faster', project_dir: '~/my-project' } },
    page: 'sessions.md',
  },
  'POST /api/v1/claim': {
    summary: 'Makes a running session the worker of a fiber',
    example: { body: { fiber_id: FIBER, mux_session: 'capture-0198c0de' } },
    page: 'sessions.md',
  },
  'POST /api/v1/attach': {
    summary: 'Opens a terminal on a worker, or on a past session by its id',
    example: { body: { mux_session: `${FIBER}-01k00000000000000000000000-svc` } },
    page: 'sessions.md',
  },
  'POST /api/v1/sessions/resume': {
    summary: 'Starts or finds the terminal session of a past conversation',
    example: { body: { session: '0198c0de-0000-4000-8000-000000000001' } },
    page: 'sessions.md',
  },
  'GET /api/v1/agents': { summary: 'The agents that can work on fibers; values of `env` are hidden' },
  'POST /api/v1/agents/effort': {
    summary: 'Sets the default effort of an agent; null lets it have its own again',
    example: { body: { id: 'claude-sonnet', effort: 'high' } },
  },
  'GET /api/v1/doctor': { summary: 'The tools a worker needs, as the daemon finds them' },
  'GET /api/v1/config': {
    summary: 'Every operator file: place, size, time, what overrides it',
    page: 'operator-files.md',
  },
  'GET /api/v1/config/:id': {
    summary: 'The text of one operator file, with its digest',
    example: { params: { id: 'stores' } },
    page: 'operator-files.md',
  },
  'POST /api/v1/config/:id': {
    summary: 'Replaces the text of one operator file once its validator passes it; a blank text removes it',
    example: { params: { id: 'projects' }, body: { text: '["/srv/dev/loader"]', dry_run: true } },
    page: 'operator-files.md',
  },
  'GET /api/v1/fiber-stores': {
    summary: 'The stores and projects of each host, and whether a folder dialog can be shown there',
    page: 'operator-files.md',
  },
  'POST /api/v1/fiber-stores': {
    summary: 'Replaces the list of stores; the daemon polls them at once',
    example: { body: { stores: ['/srv/notes'], dry_run: true } },
    page: 'operator-files.md',
  },
  'POST /api/v1/projects': {
    summary: 'Makes a folder a store and a project of the pickers, or replaces the whole list',
    example: { body: { path: '/srv/dev/loader' } },
    page: 'operator-files.md',
  },
  'POST /api/v1/choose-folder': {
    summary: 'Shows the folder dialog of the host and answers what the person chose',
    example: { body: { title: 'Where shall it work?' } },
    page: 'operator-files.md',
  },
  'GET /api/v1/sessions': {
    summary: 'Which fiber each agent session belonged to; `uid` narrows to one',
    page: 'sessions.md',
  },
  'GET /api/v1/activity': {
    summary: 'What people and agents did, by minute, in a window of time',
    example: { query: 'from_ms=1786203000000&to_ms=1786206600000' },
    page: 'ledgers.md',
  },
  'GET /api/v1/commits': {
    summary: 'Commits that agents made, in a window of time',
    example: { query: 'from_ms=1786203000000&to_ms=1786206600000' },
    page: 'ledgers.md',
  },
  'GET /api/v1/sent-files/all': {
    summary: 'Files that agents sent to a person, by fiber',
    page: 'ledgers.md',
  },
  'GET /api/v1/sent-files': {
    summary: 'The last files that the agents of one fiber sent to a person',
    example: { query: 'uid=01K2B3C4D5E6F7G8H9J0K1M2N3' },
    page: 'ledgers.md',
  },
  'GET /api/v1/sessions/links': {
    summary: 'Where each of up to 50 sessions can be opened in a browser, in the order of the request',
    example: { query: `sessions=${SESSION}` },
  },
  'GET /api/v1/transcript': {
    summary: 'Whether the transcript of a session is here, and its size and digest',
    example: { query: `session=${SESSION}` },
  },
  'GET /api/v1/transcript/raw': {
    summary: 'The bytes of a transcript as its agent program wrote them',
    example: { query: `session=${SESSION}` },
    needs: 'session',
  },
  'GET /api/v1/moment': {
    summary: 'What was said in a session around a time',
    example: { query: `session=${SESSION}&at=1786203000000` },
    needs: 'session',
  },
  'GET /api/v1/spend': {
    summary: 'What the sessions of a fiber, or one session, used',
    example: { query: `session=${SESSION}` },
  },
  'GET /api/v1/search': {
    summary: 'Fibers whose bodies have these words, best first',
    example: { query: 'query=hello' },
  },
  'GET /api/v1/file': { summary: 'The bytes of a file of this host', example: { query: 'path=/etc/hosts' } },
  'GET /api/v1/file-info': {
    summary: 'What lies at a path, without its bytes',
    example: { query: 'path=/etc/hosts' },
  },
  'POST /api/v1/attachments': {
    summary: 'Stores images for a fiber, all or none',
    example: {
      body: {
        fiber: FIBER,
        attachments: [{ name: 'a.gif', mime: 'image/gif', data: GIF, sha256: GIF_SHA256 }],
        dry_run: true,
      },
    },
  },
  'GET /api/v1/openapi.json': { summary: 'This API as OpenAPI 3.1' },
  'GET /metrics': { summary: 'Figures of the daemon for Prometheus', page: 'daemon.md' },
  'GET /': { summary: 'The board' },
  'GET /phone': { summary: 'Leads to the board' },
};
