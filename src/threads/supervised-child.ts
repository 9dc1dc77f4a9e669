import type { Clock } from '../base/clock.ts';
import { createDeferred } from '../base/deferred.ts';
import { CodedError, messageOf } from '../base/errors.ts';
import type { Logger } from '../base/logger.ts';
import type { ComponentView } from '../contract/component.ts';
import type { ChildSpec, Life } from './child.ts';
import { type Heartbeat, startHeartbeat } from './heartbeat.ts';
import { decideRestart, type RestartPolicy } from './restart-policy.ts';

const MAX_LAST_ERROR = 2_000;

export type SupervisionRules = {
  clock: Clock;
  logger: Logger;
  restart: RestartPolicy;
  heartbeat: { interval_ms: number; timeout_ms: number };
  stop_timeout_ms: number;
};

/**
 * Keeps one component alive: launches it, checks its heartbeats, restarts it, and gives it up after too many failures.
 */
export class SupervisedChild {
  readonly spec: ChildSpec;
  readonly #rules: SupervisionRules;
  readonly #changed: () => void;
  readonly #failed: (lastError: string) => void;
  readonly #settled = createDeferred<void>();
  #view: ComponentView;
  #life: Life | null = null;
  /** In a row. */
  #restarts = 0;
  /** When this life was ready, by the clock that nobody sets. */
  #ran_from: number | null = null;
  #cancelTimer: () => void = () => undefined;
  #heartbeat: Heartbeat | null = null;
  #begun = false;
  #stopping = false;

  constructor(
    spec: ChildSpec,
    rules: SupervisionRules,
    changed: () => void,
    failed: (lastError: string) => void,
  ) {
    this.spec = spec;
    this.#rules = rules;
    this.#changed = changed;
    this.#failed = failed;
    this.#view = { name: spec.name, state: 'starting', restarts: 0, started_at: null, last_error: null };
  }

  get view(): ComponentView {
    return this.#view;
  }

  /** Launches it, so that its code is loaded by the time it may begin. */
  load(): void {
    if (!this.#stopping) this.#launch();
  }

  /** Lets it begin; resolves when it is first ready, has failed for good, or was stopped. */
  start(): Promise<void> {
    this.#begun = true;
    if (this.#stopping) this.#settled.resolve();
    else if (this.#life !== null) this.#begin(this.#life);
    return this.#settled.promise;
  }

  /** Stops it for good. Resolves within the stop timeout, even if its thread cannot be ended. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#cancelTimer();
    this.#heartbeat?.stop();
    await this.#life?.stop(this.#rules.stop_timeout_ms);
    this.#life = null;
    if (this.#view.state !== 'failed') this.#become({ state: 'stopped' });
    this.#settled.resolve();
  }

  #launch(): void {
    const { clock, heartbeat, logger } = this.#rules;
    const name = this.spec.name;
    this.#ran_from = null;
    let life: Life;
    try {
      life = this.spec.launch(() => {
        if (this.#life === life) this.#heartbeat?.heard();
      });
    } catch (error) {
      this.#afterEnd(error instanceof Error ? error : new Error(messageOf(error)));
      return;
    }
    this.#life = life;
    if (this.#begun) this.#begin(life);
    void life.ready.then(() => {
      if (this.#life !== life || this.#stopping) return;
      this.#ran_from = clock.monotonic();
      this.#listen(life, heartbeat.timeout_ms, 'did not answer a heartbeat');
      logger.info({ child: name, restarts: this.#view.restarts }, 'component running');
      this.#become({ state: 'running', started_at: clock.now() });
      this.#settled.resolve();
    });
    void life.ended.then((reason) => {
      if (this.#life !== life) return;
      this.#cancelTimer();
      this.#heartbeat?.stop();
      this.#heartbeat = null;
      if (this.#stopping) return;
      this.#life = null;
      this.#afterEnd(reason);
    });
  }

  #begin(life: Life): void {
    this.#listen(life, this.spec.start_limit_ms, 'did not become ready');
    life.begin();
  }

  /** Kills a life that had so much time and answered nothing. */
  #listen(life: Life, timeout_ms: number, what: string): void {
    const { clock, heartbeat } = this.#rules;
    this.#heartbeat?.stop();
    this.#heartbeat = startHeartbeat({
      ...{ clock, interval_ms: heartbeat.interval_ms, timeout_ms },
      ask: () => life.ask(),
      work: () => life.work(),
      silent: () =>
        life.kill(
          new CodedError(
            'component_unavailable',
            `The ${this.spec.name} component ${what} although it had ${timeout_ms} ms of time for it`,
          ),
        ),
    });
  }

  #afterEnd(reason: Error): void {
    const { clock, logger, restart } = this.#rules;
    const last_error = messageOf(reason).slice(0, MAX_LAST_ERROR);
    const decision = decideRestart(restart, {
      before: this.#restarts,
      ran_ms: this.#ran_from === null ? 0 : clock.monotonic() - this.#ran_from,
    });
    const facts = { child: this.spec.name, err: reason };
    if (decision.action === 'give_up') {
      const level = this.spec.essential ? 'fatal' : 'error';
      logger[level](facts, 'component ended too often; giving it up');
      this.#become({ state: 'failed', last_error });
      this.#failed(last_error);
      this.#settled.resolve();
      return;
    }
    const { nth, after_ms } = decision;
    this.#restarts = nth;
    const level = nth === 1 ? 'info' : nth === 2 ? 'warn' : 'error';
    logger[level]({ ...facts, nth, after_ms }, 'component ended; restarting it');
    this.#become({ state: 'restarting', last_error });
    this.#cancelTimer = clock.after(after_ms, () => {
      this.#view = { ...this.#view, restarts: this.#view.restarts + 1 };
      this.#launch();
    });
  }

  #become(change: Partial<ComponentView>): void {
    this.#view = { ...this.#view, ...change };
    this.#changed();
  }
}
