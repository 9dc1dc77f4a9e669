/** One life of a component, from its launch to its end. */
export type Life = {
  /** Resolves when it can serve; stays pending when the life ends first. */
  readonly ready: Promise<void>;
  /** Resolves once with the reason when the life is over, whoever ended it; never rejects. */
  readonly ended: Promise<Error>;
  /** Asks for a sign of life; the answer calls `heard`. */
  ask(): void;
  /** Lets it finish by itself for at most `limit_ms`, then ends it. Resolves when it is over or given up. */
  stop(limit_ms: number): Promise<void>;
  /** Ends it now. `ended` resolves at once; what a thread stuck in the kernel still holds is not waited for. */
  kill(reason: Error): void;
};

/** What the supervisor must know of a component. */
export type ChildSpec = {
  readonly name: string;
  /** The daemon cannot do its work without it: over its restart intensity the daemon ends. */
  readonly essential: boolean;
  /** Milliseconds from launch to ready. */
  readonly start_limit_ms: number;
  /** Begins a new life; `heard` takes its signs of life. */
  launch(heard: () => void): Life;
};
