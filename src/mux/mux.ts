/** One session of the multiplexer server. Times are milliseconds since the Unix epoch. */
export type MuxSession = {
  /** tmux's own stable id (`$7`); never reused while the server lives. */
  id: string;
  name: string;
  created_at: number;
  /** Process at the root of the session's first pane; null where tmux does not tell. */
  pane_pid: number | null;
  /** True when the first pane's process has ended but the pane was kept. */
  pane_dead: boolean;
  panes: number;
  attached: number;
};

/** One pane of a session. */
export type MuxPane = {
  /** Process at its root. */
  pid: number;
  dead: boolean;
  /** Working directory of what runs in front; empty where tmux does not tell. */
  cwd: string;
};

/** What the server answered: three different worlds, never folded into one another. */
export type MuxListing =
  | { kind: 'alive'; sessions: MuxSession[] }
  | { kind: 'absent' }
  | { kind: 'unknown'; detail: string };

export type CreateSession = {
  name: string;
  cwd: string;
  /** argv of the session's first process; holds no text of a user, only paths we made. */
  command: string[];
  columns?: number;
  rows?: number;
};

export type Created =
  | { kind: 'created'; session: MuxSession }
  | { kind: 'duplicate' }
  | { kind: 'failed'; code: 'mux_unavailable' | 'tmux_server_unavailable'; detail: string };

/** The multiplexer as the dispatcher sees it. No method throws for what tmux says. */
export type Mux = {
  list(): Promise<MuxListing>;
  create(spec: CreateSession): Promise<Created>;
  /** Ends one session by its stable id, guarded by its name; `gone` when there is no such session. */
  kill(target: { id: string; name: string }): Promise<'killed' | 'gone' | 'unknown'>;
  /** The visible text of the session's first pane, or null where it cannot be read. */
  capture(target: { id: string }): Promise<string | null>;
  /** Every pane of one session, oldest first; null where they cannot be told. */
  panes(target: { id: string }): Promise<MuxPane[] | null>;
  /** Calls back soon (milliseconds) after a session appeared or ended; the function returned unsubscribes. */
  onChange(listener: () => void): () => void;
  /** Path of the tmux executable and socket in use, for `svc doctor` and `svc attach`. */
  describe(): { tmux: string; socket: string | null; attach_argv(name: string): string[] };
  /** Detaches; ends our anchor session, never a worker's. */
  stop(): Promise<void>;
};
