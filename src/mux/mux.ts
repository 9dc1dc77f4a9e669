/** One session of the multiplexer server. Times are milliseconds since the Unix epoch. */
export type MuxSession = {
  /** tmux's own stable id (`$7`); never reused while the server lives. */
  id: string;
  name: string;
  created_at: number;
  /** Terminals that show it; the control clients of daemons are not counted. */
  attached: number;
  /** Oldest first; at least one. */
  panes: MuxPane[];
};

/**
 * Identifies the server that answered; a restarted server on the same socket differs. `started_at` in milliseconds,
 * whole seconds.
 */
export type MuxServer = { pid: number; started_at: number };

/** One pane of a session. */
export type MuxPane = {
  /** tmux's own stable id (`%12`); never reused while the server lives. */
  id: string;
  /** Process at its root; null where tmux does not report it. */
  pid: number | null;
  /** True when its process has ended but the pane was kept. */
  dead: boolean;
  /**
   * The name of the folder whose `run.sh` tmux started in this pane: a launch id, or the id of a past conversation; for a
   * recorder, the name of its meeting. Null for every pane that we did not make, whatever its session is called.
   */
  launch_id: string | null;
};

/** A pane as something to read and to type into; the server compares its process when it acts. */
export type PaneAddress = { id: string; pid: number };

/** The working directory of the foreground process of a pane; empty where tmux does not report it. */
export type PaneFolder = Pick<MuxPane, 'id' | 'dead'> & { pid: number; cwd: string };

/** What the server answered. `absent` and `unknown` must never be mistaken for each other. */
export type MuxListing =
  | { kind: 'alive'; sessions: MuxSession[]; server?: MuxServer }
  | { kind: 'absent' }
  | { kind: 'unknown'; detail: string };

/** Where the screen of a pane was when it was read: its size, and how much of it is history. */
export type ScreenMark = {
  columns: number;
  rows: number;
  /** Lines of history above the visible screen. */
  history: number;
  /** When it was asked for, in whole seconds since the Unix epoch. */
  read_at_s: number;
};

/** The screen of a pane; `cheap` where it was asked over a connection that is there anyway. */
export type MuxScreen =
  /** Lines with their escape sequences; the first of them has the index `first`, counted from the oldest of the history. */
  | { kind: 'read'; mark: ScreenMark; first: number; lines: string[]; cheap: boolean }
  | { kind: 'same'; cheap: boolean }
  | { kind: 'gone' }
  | { kind: 'unknown'; detail: string };

export type CreateSession = {
  name: string;
  cwd: string;
  /** argv of the session's first process; contains only paths that we made, no user text. */
  command: string[];
  columns?: number;
  rows?: number;
};

export type Created =
  | { kind: 'created'; session: MuxSession }
  | { kind: 'duplicate' }
  | {
      kind: 'failed';
      code: 'mux_unavailable' | 'tmux_server_unavailable';
      detail: string;
      /** It was made, and its first process had ended before anybody saw it. */
      ended?: true;
    };

/** The multiplexer as the dispatcher sees it. No method throws for what tmux says. */
export type Mux = {
  list(): Promise<MuxListing>;
  create(spec: CreateSession): Promise<Created>;
  /** Ends one session by its stable id, guarded by its name; `gone` when there is no such session. */
  kill(target: { id: string; name: string }): Promise<'killed' | 'gone' | 'unknown'>;
  /** Renames one session by its stable id, guarded by its name; `gone` when there is no such session. */
  rename(target: { id: string; name: string }, name: string): Promise<'renamed' | 'gone' | 'unknown'>;
  /** The visible text of a pane, or null where it cannot be read. */
  capture(pane: string): Promise<string | null>;
  /**
   * The screen of a pane, and at most `history` lines above it; `same` if nothing was written to it since the mark.
   * Changes nothing in the session.
   */
  screen(target: PaneAddress, asked: { history: number; since: ScreenMark | null }): Promise<MuxScreen>;
  /** Where every pane of one session works, oldest first; null where they cannot be read. */
  panes(target: { id: string }): Promise<PaneFolder[] | null>;
  /** Calls back soon (milliseconds) after a session appeared, ended or was renamed; the function returned unsubscribes. */
  onChange(listener: () => void): () => void;
  /** Path of the tmux executable and socket in use, for `svc doctor` and `svc attach`. */
  describe(): { tmux: string; socket: string | null; attach_argv(target: string): string[] };
  /** Detaches; ends our anchor session, never a worker's. */
  stop(): Promise<void>;
};
