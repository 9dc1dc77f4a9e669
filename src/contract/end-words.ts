const END_WORDS: Readonly<Record<string, string>> = {
  handoff: 'handed off',
  kill: 'stopped by you',
  forced_start: 'restarted by you',
  server_lost: 'tmux ended',
  reboot: 'this machine went down',
  session_gone: 'its terminal was closed',
  memory_limit: 'killed at its memory limit',
  exited: 'its program ended',
  agent_missing: 'the program of its agent was not found',
  project_dir_missing: 'its folder could not be entered',
  never_begun: 'its conversation never began',
  conversation_missing: 'its conversation is gone',
};

/** How a run or a capture was over; what no words stand for, as it is recorded. */
export function endWords(reason: string): string {
  return END_WORDS[reason] ?? reason.replaceAll('_', ' ');
}
