import type { Routing } from '../http/routing.ts';

/** The groups that endpoints are listed in, and what each is about: the tags of the OpenAPI document. */
export const GROUPS = {
  Board: 'The pages of the board',
  Configuration: 'The files that configure a host, its stores, and its agents',
  Daemon: 'The build, the description of this API, and figures for monitoring',
  Fibers: 'The feed, single documents, and what is written to them',
  Files: 'Files of a host, and images stored for a fiber',
  Ledgers: 'What happened on a host over time',
  Meetings: 'The meeting that a host records, and the audio of a phone',
  Messages: 'What is written to running sessions, and what became of it',
  State: 'What runs, what does not and why, and the switches that hold all starts back',
  Transcripts: 'What was said in a session, where it can be read, and what it used',
  Workers: 'Workers: start, stop, capture, claim, and open in a terminal',
} as const;
export type Group = keyof typeof GROUPS;

/** Who answers an endpoint, by its routing; a routing by a parameter of the query is `?name=`. */
export const ANSWERED_BY: Readonly<Record<string, string>> = {
  local: 'this daemon; it takes no `origin`',
  owner: 'the owner of the fiber; an unknown `origin` is taken for this host, where the fiber is looked up',
  host: 'the host itself; an unknown `origin` is 404 `unknown_host`',
  'host-scoped':
    'this daemon, about its own machine; another `origin` is 501 `not_forwarded` or 404 `unknown_host`',
  '?host=': 'the host that holds the transcript',
  'fan-in': 'this daemon, for all hosts it knows',
};

/** The key of a routing in `ANSWERED_BY`. */
export function routingName(routing: Routing): string {
  return typeof routing === 'string' ? routing : `?${routing.param}=`;
}

/** What each parameter means, wherever it is taken; those of a path as its row writes them, some with what is before them. */
export const PARAMETERS: Readonly<Record<string, string>> = {
  '*id': 'The id of the fiber; may hold slashes',
  ':id': 'The name of the operator file: `stores`, `projects`, `agents`, `remotes` or `host`',
  'assets/:name': 'The name of a file of the board, as its page has it',
  'remotes/:name': 'The name of the remote in `remotes.json`',
  after_byte: 'Only what was said after this byte of the transcript: the `to` of an earlier answer',
  at: 'A time, in milliseconds since the Unix epoch',
  before: 'The `before` of an earlier answer: only what is older than its messages',
  before_byte: 'Only what was said before this byte of the transcript: the `from` of an earlier answer',
  before_ms: 'Only what is older than this time, in milliseconds since the Unix epoch',
  body: 'Whether each row has the body of its document',
  fiber: 'The id or the uid of a fiber',
  first: 'Whether only the rows are told that a board shows first, where there are many and no `since`',
  from_ms: 'The beginning of the window, in milliseconds since the Unix epoch',
  host: 'The host that holds the transcript; this host unless given',
  launch: 'The recording that the audio is for, the `launch` of a meeting; whichever there is unless given',
  limit: 'The most entries in the answer',
  local: 'Whether only the sessions of this host are listed',
  alive: 'Whether the tag of the feed is sent every second, also where nothing changed',
  look: 'Whether the checks of a start are made too, such as whether its folder exists',
  origin: 'The host that is meant; this host unless given',
  patch: 'Whether the lines that changed are told too',
  path: 'An absolute path on the host',
  query: 'The words to search for',
  session: 'The id of a session; for a terminal, its name: the `mux_session` of a worker',
  sessions: 'Ids of at most 50 sessions, separated by commas',
  sha: 'The name of a commit, or the first 7 digits of it or more',
  since: 'The `tag` of an earlier answer: only what changed since then',
  status: 'Only fibers with this status',
  svc: 'Whether only fibers that this host dispatches are listed',
  tag: 'Only fibers with this tag',
  to_ms: 'The end of the window, in milliseconds since the Unix epoch',
  uid: 'The uid of a fiber',
  view: 'The page that is meant: `meeting` is that of a phone, any other one the board',
  within_ms: 'Milliseconds before and after `at`',
};

/** What an answer of this status means, where the status line alone does not say enough. */
export const STATUSES: Readonly<Record<number, string>> = {
  101: 'The connection becomes a WebSocket',
  304: 'The client has this answer already',
  400: 'The request is not valid; `message` names what to correct',
  403: 'The caller is another user of this machine, or its page is of another origin',
  404: 'Nothing is there under this name',
  409: 'Something changed or happened meanwhile: read again, then decide',
  422: 'The request was understood and refused; `message` says what would help',
  503: 'The daemon, or something that it needs, is not ready: ask again',
};
