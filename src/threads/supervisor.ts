import { messageOf } from '../base/errors.ts';
import type { ComponentView } from '../contract/component.ts';
import type { ChildSpec } from './child.ts';
import { SupervisedChild, type SupervisionRules } from './supervised-child.ts';

export type SupervisorOptions = SupervisionRules & {
  /** In start order, those of an inner list together; the stop order is the reverse, one after another. */
  children: readonly (ChildSpec | readonly ChildSpec[])[];
  /** An essential component was given up: the process should exit so that its service manager restarts it. */
  onEssentialFailed(name: string, lastError: string): void;
};

/** Starts, watches, restarts and stops the components of the daemon. */
export type Supervisor = {
  /** Loads all children at once, and lets each begin when those before it are ready or have failed. Never rejects. */
  start(): Promise<void>;
  /** Stops each child in reverse order; each has at most the stop timeout. Never rejects. */
  stop(): Promise<void>;
  /** The components in start order, for `GET /version` (OPR-1). */
  views(): ComponentView[];
  /** Calls `changed` after every change of a view; returns the function that unsubscribes. */
  onViewsChanged(changed: (views: ComponentView[]) => void): () => void;
};

export function createSupervisor(options: SupervisorOptions): Supervisor {
  const { children: order, onEssentialFailed, ...rules } = options;
  const listeners = new Set<(views: ComponentView[]) => void>();
  let stopping: Promise<void> | null = null;

  const views = (): ComponentView[] => children.map((child) => child.view);
  const changed = (): void => {
    for (const listener of listeners) listener(views());
  };
  const supervise = (spec: ChildSpec) =>
    new SupervisedChild(spec, rules, changed, (lastError) => {
      if (spec.essential) onEssentialFailed(spec.name, lastError);
    });
  const steps = order.map((step) => [step].flat().map(supervise));
  const children = steps.flat();

  const stopAll = async (): Promise<void> => {
    for (const child of children.toReversed()) {
      await child
        .stop()
        .catch((error) =>
          rules.logger.error({ child: child.spec.name, err: messageOf(error) }, 'stop failed'),
        );
    }
  };

  return {
    async start() {
      for (const child of children) child.load();
      for (const step of steps) {
        if (stopping !== null) return;
        await Promise.all(step.map((child) => child.start()));
      }
    },
    stop() {
      stopping ??= stopAll();
      return stopping;
    },
    views,
    onViewsChanged(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
