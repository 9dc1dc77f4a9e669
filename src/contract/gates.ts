/**
 * The gates of a launch by the poller (DSP-2 and design section 8), in the order of evaluation. Each uses the fiber's
 * frontmatter and the daemon's state, never the disk.
 */
export const GATES = [
  'document',
  'svc_block',
  'host',
  'status',
  'running',
  'due',
  'mux',
  'stopped_all',
  'data_dir',
  'store_lease',
  'run_elsewhere',
  'breaker',
  'usage_limit',
  'held',
  'cooldown',
  'max_concurrent',
  'resources',
] as const;
export type Gate = (typeof GATES)[number];

/**
 * The checks of a fiber that passed every gate, in the order of evaluation, all before any effect (WPL-1).
 * `agent_program` asks the agent's program for its capabilities; `project_dir` touches the directory (DSP-4);
 * `conversation` decides between resuming and starting fresh (RES-1).
 */
export const LAUNCH_CHECKS = [
  'document_checks',
  'agent',
  'project_dir',
  'agent_program',
  'conversation',
] as const;
export type LaunchCheck = (typeof LAUNCH_CHECKS)[number];
