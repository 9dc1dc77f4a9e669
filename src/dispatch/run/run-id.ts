/** `previous` and `fresh` override the rule; `continue` applies it to every kind of fiber (RES-7). */
export type ResumeMode = 'previous' | 'fresh' | 'continue';

/** Why a start happens: the poller saw it due, or a person or program asked. */
export type Authority =
  /** `user_message`: what a start that resumed in vain was to say (P7). */
  | {
      kind: 'poll';
      occurrence: number | null;
      user_message?: string | null;
      agent?: string | null;
      resume_mode?: ResumeMode;
    }
  | {
      kind: 'request';
      force: boolean;
      user_message: string | null;
      /** Of `user_message`, so that it is not told twice. */
      message_id?: string | undefined;
      resume_mode?: ResumeMode | null;
      despite_brake?: boolean;
      /** The agent that the fiber is given with the start; null for the one that it has. */
      agent?: string | null;
    };

/**
 * The run id: `adhoc-<ms>` for a standing role started by hand and `scheduled-<ms of the occurrence>` for one
 * that fell due (STD-1); the launch id for everything else.
 */
export function runIdFor(options: {
  standing: boolean;
  authority: Authority;
  launch_id: string;
  now: number;
}): string {
  if (!options.standing) return options.launch_id;
  return options.authority.kind === 'poll' && options.authority.occurrence !== null
    ? `scheduled-${options.authority.occurrence}`
    : `adhoc-${options.now}`;
}

/** Whether a run id is that of a standing role, which does not name a launch. */
export function isOfStandingRole(run_id: string): boolean {
  return /^(scheduled|adhoc)-/.test(run_id);
}
