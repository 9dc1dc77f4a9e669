/**
 * Every `error` code of an HTTP body or a thread call, with its HTTP status. The code tells a program what to do; the
 * message tells a person how.
 */
const ERROR_STATUS = {
  invalid_request: 400,
  invalid_json: 400,
  /** An operator file is invalid; the message is the validator's (ERR-4). */
  validator_refused: 400,
  not_a_directory: 400,
  /** The refusals of a message before anything of it is kept (ERR-7). */
  invalid_address: 400,
  wrong_host: 400,
  unsupported_harness: 400,
  preflight_failed: 400,
  /** The broken rule of a batch of attachments (ERR-3). */
  attachment_mime: 400,
  attachment_size: 400,
  attachment_count: 400,
  attachment_total: 400,
  attachment_decode: 400,
  attachment_sha256: 400,
  forbidden_host: 403,
  forbidden_origin: 403,
  forbidden_use: 403,
  peer_refused: 403,
  file_unreadable: 403,
  not_found: 404,
  file_not_found: 404,
  fiber_not_found: 404,
  store_not_found: 404,
  unknown_host: 404,
  no_worker: 404,
  no_meeting: 404,
  agent_not_found: 404,
  session_not_found: 404,
  method_not_allowed: 405,
  request_timeout: 408,
  ambiguous_fiber: 409,
  /** The id of a message was used for another one (ERR-13). */
  message_id_conflict: 409,
  already_exists: 409,
  worker_exists: 409,
  /** A git worktree is not removed: it has changes that no commit has, or a worker. */
  worktree_in_use: 409,
  session_claimed: 409,
  session_running: 409,
  /** A meeting is recorded already; the body carries its row (ERR-14). */
  meeting_running: 409,
  meeting_not_live: 409,
  conflict: 409,
  daemon_running: 409,
  locked: 409,
  /** Another folder dialog is open on this host. */
  dialog_open: 409,
  /** The daemon's own listener: another process holds the port or the socket. */
  address_in_use: 409,
  /** The daemon of another host is not of the build that its entry in `remotes.json` pins. */
  build_changed: 409,
  /** A remote is asked as always; there is nothing to reset (ERR-16). */
  breaker_not_tripped: 409,
  body_too_large: 413,
  unsupported_media_type: 415,
  expectation_failed: 417,
  /** The path is a WebSocket, but the request is not an upgrade. */
  upgrade_required: 426,
  /** Another daemon passed on a request that is for a third host. */
  misdirected: 421,
  invalid_document: 422,
  not_a_file: 422,
  /** A file exceeds the size limit of its kind. */
  file_too_large: 422,
  not_in_a_store: 422,
  arm_refused: 422,
  no_service: 422,
  project_dir_missing: 422,
  project_dir_unreachable: 422,
  project_dir_in_store: 422,
  /** No git worktree can be made of the folder. */
  worktree_unavailable: 422,
  uid_missing: 422,
  tmux_server_unavailable: 422,
  session_open_in_resume: 422,
  session_name_taken: 422,
  agent_unknown: 422,
  agent_unavailable: 422,
  effort_unknown: 422,
  surface_unsupported: 422,
  meeting_unsupported: 422,
  no_agent_in_session: 422,
  not_a_worker_session: 422,
  transcript_missing: 422,
  working_directory_unknown: 422,
  startup_unconfirmed: 422,
  stopped_all: 422,
  /** Another daemon dispatches from the store. */
  store_leased: 422,
  /** The data folder was deleted or replaced under the daemon. */
  data_dir_lost: 422,
  conversation_missing: 422,
  invalid_config: 422,
  header_too_large: 431,
  internal: 500,
  launch_failed: 502,
  /** Another host answers, but what it answered is malformed or too large. */
  answer_unreadable: 502,
  app_launch_failed: 502,
  booting: 503,
  component_unavailable: 503,
  daemon_unreachable: 503,
  queue_full: 503,
  /** The limit of open WebSockets and streams is reached. */
  too_many_connections: 503,
  /** The memory for request bodies is used up; `Retry-After` says when to retry. */
  memory_full: 503,
  /** A file is written faster than it can be read. */
  file_changed: 503,
  file_unavailable: 503,
  /** The caller cancelled the call. */
  cancelled: 503,
  store_unavailable: 503,
  terminal_unreachable: 503,
  remote_unreachable: 503,
  mux_unavailable: 503,
  /** There is no recorder, or it ended before it recorded (ERR-25). */
  recorder_unavailable: 503,
  recorder_failed: 503,
  app_server_unavailable: 503,
  /** This host has no folder picker (ERR-22). */
  folder_picker_unavailable: 501,
  /** Nothing keeps programs of this user running here. */
  no_service_manager: 501,
  service_manager_failed: 502,
  /** The request is for another host, and what it asks for is not passed on. */
  not_forwarded: 501,
  /** Daemons pass the request on in a circle, or over too many hosts. */
  forwarding_loop: 508,
  deadline_exceeded: 504,
  /** The daemon ended while it carried the request out, which is not done again. */
  outcome_unknown: 504,
  cli_unavailable: 503,
  cli_timed_out: 504,
  version_not_supported: 505,
  /** A disk that the daemon writes to is full, read-only or failing; the message says what took effect. */
  storage_unavailable: 507,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;

/** The HTTP status of a code; 500 for an unknown one. */
export function statusOf(code: string): number {
  return code in ERROR_STATUS ? ERROR_STATUS[code as ErrorCode] : 500;
}

/** The HTTP status of a refused launch: a failure of an app server is not an error of the request (ERR-23, ERR-24). */
export function refusalStatus(reason: string): number {
  return isAppFailure(reason) ? statusOf(reason) : 422;
}

/** A failure of an app server; every answer with it has the code as `reason` too (CAP-7, CAP-8). */
export function isAppFailure(code: string): boolean {
  return code === 'app_server_unavailable' || code === 'app_launch_failed';
}
