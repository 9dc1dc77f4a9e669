import type { ThreadWork } from './thread-work.ts';

/** One life of a component, from its launch to its end. */
export type Life = {
  /** Resolves when it is ready; stays pending if the life ends first. */
  readonly ready: Promise<void>;
  /** Resolves with the reason when the life is over, for whatever cause; never rejects. */
  readonly ended: Promise<Error>;
  /** Lets it begin its work, once; until then it loads its code and does nothing else. */
  begin(): void;
  /** Sends a heartbeat; its answer calls `heard`. */
  ask(): void;
  /** What the kernel says of its thread; null where that is not known. */
  work(): ThreadWork | null;
  /** Lets it finish for at most `limit_ms`, then kills it. Resolves when it is over or abandoned. */
  stop(limit_ms: number): Promise<void>;
  /** Kills it. `ended` resolves at once, even if the thread is stuck in the kernel. */
  kill(reason: Error): void;
};

/** The declaration of a component for the supervisor. */
export type ChildSpec = {
  readonly name: string;
  /** The daemon cannot work without it: if it exceeds its restart intensity, the daemon exits. */
  readonly essential: boolean;
  /** Time in milliseconds that it may have had (`time-had.ts`) from its beginning to ready without an answer to a heartbeat. */
  readonly start_limit_ms: number;
  /** Makes a new life, which waits to begin; `heard` is called at each heartbeat answer. */
  launch(heard: () => void): Life;
};
