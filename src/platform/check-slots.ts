import { type BackoffPolicy, backoffDelay } from '../base/backoff.ts';

/** Limits on checks in progress and on processes blocked by a disk. Times in milliseconds. */
export type CheckLimits = {
  /** Concurrent checks of one mount that has answered; before its first answer, one. */
  per_mount: number;
  /** Concurrent checks in total. */
  total: number;
  /** How many of them may be on mounts that have never answered. */
  unknown: number;
  /** Blocked processes per mount; at this number no further check of the mount begins. */
  stuck_per_mount: number;
  /** Blocked processes in total; at this number only mounts that have answered before are checked. */
  stuck: number;
  /** How long after an answer a mount may have more than one concurrent check. */
  proof_ms: number;
  /** Time between two checks of a silent place. */
  retry: BackoffPolicy;
  /** A silent place that nobody asked about for this long is forgotten and no longer checked. */
  forget_ms: number;
};

export const CHECK_LIMITS: CheckLimits = {
  per_mount: 2,
  total: 8,
  unknown: 6,
  stuck_per_mount: 8,
  stuck: 16,
  proof_ms: 1_000,
  retry: { first: 1_000, most: 30_000 },
  forget_ms: 15 * 60_000,
};

/** A check of one path within one mount; `local`: its file system depends on no other machine. */
export type CheckTarget = { path: string; mount: string; local: boolean };

/** What did not answer: a whole mount, or one path on a mount that otherwise answers. */
export type Place = { kind: 'mount' | 'path'; name: string };

/** What a check may do now. */
export type SlotDecision = { kind: 'run' } | { kind: 'wait' } | { kind: 'silent'; place: Place };

/** A process blocked for less than this ended because it was killed; that says nothing about the disk. */
const BLOCKED_MS = 1_000;

type MountState = { running: number; stuck: number; answered: boolean; proven_at: number | null };
type Silence = {
  at: CheckTarget;
  failures: number;
  probe_at: number;
  asked_at: number;
  probing: boolean;
  stuck: number;
};

/**
 * Decides which checks may run now and which disks are silent. Takes the time as a parameter of every
 * call. Only a check that got a slot says something about its path.
 */
export class CheckSlots {
  readonly #limits: CheckLimits;
  readonly #mounts = new Map<string, MountState>();
  readonly #silent = new Map<string, Silence>();
  #running = 0;
  #unknown = 0;
  #stuck = 0;

  constructor(limits: CheckLimits = CHECK_LIMITS) {
    this.#limits = limits;
  }

  /** Checks in progress, and processes blocked by disks. */
  get load(): { running: number; stuck: number } {
    return { running: this.#running, stuck: this.#stuck };
  }

  /** What this check may do now; `probe`: it tests whether a silent place answers again. */
  ask(at: CheckTarget, now: number, probe = false): SlotDecision {
    const silent = probe ? null : this.silence(at, now);
    if (silent !== null) return { kind: 'silent', place: silent };
    const mount = this.#mountOf(at.mount);
    const { per_mount, total, unknown, stuck, stuck_per_mount, proof_ms } = this.#limits;
    const known = isKnown(mount, at);
    const proven = mount.proven_at !== null && now - mount.proven_at < proof_ms;
    const free =
      this.#running < total &&
      mount.running < (proven ? per_mount : 1) &&
      mount.stuck < stuck_per_mount &&
      (known || (this.#unknown < unknown && this.#stuck < stuck));
    return { kind: free ? 'run' : 'wait' };
  }

  /** Takes the slot that `ask` granted; report the result with `end` or `late`. */
  begin(at: CheckTarget): { known: boolean } {
    const mount = this.#mountOf(at.mount);
    const known = isKnown(mount, at);
    mount.running += 1;
    this.#running += 1;
    if (!known) this.#unknown += 1;
    return { known };
  }

  /** The mount itself has answered. */
  proven(mount: string, now: number): void {
    const state = this.#mountOf(mount);
    state.answered = true;
    state.proven_at = now;
    this.#silent.delete(keyOf({ kind: 'mount', name: mount }));
  }

  /** The check has its answer. */
  end(at: CheckTarget, slot: { known: boolean }, now: number): void {
    this.#giveBack(at, slot);
    this.proven(at.mount, now);
    this.#silent.delete(keyOf({ kind: 'path', name: at.path }));
  }

  /** The check failed for a reason other than the disk: nothing is learned. */
  lost(at: CheckTarget, slot: { known: boolean }): void {
    this.#giveBack(at, slot);
  }

  /**
   * The check timed out; its process is blocked by the disk until `freed`. If the mount answered during this check,
   * only the path is silent.
   */
  late(at: CheckTarget, slot: { known: boolean }, proven: boolean, now: number): Place {
    this.#giveBack(at, slot);
    const place: Place = proven ? { kind: 'path', name: at.path } : { kind: 'mount', name: at.mount };
    const mount = this.#mountOf(at.mount);
    mount.proven_at = null;
    mount.stuck += 1;
    this.#stuck += 1;
    const before = this.#silent.get(keyOf(place));
    const failures = (before?.failures ?? 0) + 1;
    this.#silent.set(keyOf(place), {
      at: place.kind === 'path' ? at : { ...at, path: at.mount },
      failures,
      probe_at: now + backoffDelay(this.#limits.retry, failures),
      asked_at: before?.asked_at ?? now,
      probing: false,
      stuck: (before?.stuck ?? 0) + 1,
    });
    // A probed path whose mount has become silent meanwhile waits for the mount.
    if (place.kind === 'mount') this.probeLost({ kind: 'path', name: at.path }, now);
    return place;
  }

  /** An abandoned process has exited. If the disk had blocked it, the disk answers again. */
  freed(at: CheckTarget, place: Place, held_ms: number, now: number): void {
    this.#mountOf(at.mount).stuck -= 1;
    this.#stuck -= 1;
    const silence = this.#silent.get(keyOf(place));
    if (silence === undefined) return;
    silence.stuck -= 1;
    if (held_ms >= BLOCKED_MS) silence.probe_at = now;
  }

  /** Silent places that are due for a probe, one check each; marks them as probed. */
  probes(now: number): { at: CheckTarget; place: Place }[] {
    const due = [];
    for (const [key, silence] of this.#silent) {
      if (now - silence.asked_at > this.#limits.forget_ms) this.#silent.delete(key);
      // A process is still blocked there, so the place is still silent.
      else if (!silence.probing && silence.stuck === 0 && silence.probe_at <= now) {
        silence.probing = true;
        due.push({ at: silence.at, place: placeOf(key) });
      }
    }
    return due;
  }

  /** The probe of a silent place did not get a slot. */
  probeLost(place: Place, now: number): void {
    const silence = this.#silent.get(keyOf(place));
    if (silence === undefined) return;
    silence.probing = false;
    silence.probe_at = now + this.#limits.retry.first;
  }

  /** When the next probe is due; null when nothing is silent. */
  nextProbe(): number | null {
    let next: number | null = null;
    for (const { probing, stuck, probe_at } of this.#silent.values())
      if (!probing && stuck === 0) next = Math.min(next ?? probe_at, probe_at);
    return next;
  }

  /** The silent mount or path that affects this path; null if there is none. */
  silence(at: Pick<CheckTarget, 'mount' | 'path'>, now: number): Place | null {
    const places: Place[] = [
      { kind: 'mount', name: at.mount },
      { kind: 'path', name: at.path },
    ];
    return places.find((place) => this.isSilent(place, now)) ?? null;
  }

  /** Whether a mount has answered, and has not been found silent since. */
  answers(mount: string): boolean {
    return (
      this.#mounts.get(mount)?.answered === true && !this.#silent.has(keyOf({ kind: 'mount', name: mount }))
    );
  }

  /** A request keeps the place from being forgotten. */
  isSilent(place: Place, now: number): boolean {
    const silence = this.#silent.get(keyOf(place));
    if (silence !== undefined) silence.asked_at = now;
    return silence !== undefined;
  }

  #mountOf(name: string): MountState {
    const known = this.#mounts.get(name);
    if (known !== undefined) return known;
    const mount = { running: 0, stuck: 0, answered: false, proven_at: null };
    this.#mounts.set(name, mount);
    return mount;
  }

  #giveBack(at: CheckTarget, { known }: { known: boolean }): void {
    this.#mountOf(at.mount).running -= 1;
    this.#running -= 1;
    if (!known) this.#unknown -= 1;
  }
}

function isKnown(mount: MountState, at: CheckTarget): boolean {
  return mount.answered || at.local;
}

function keyOf({ kind, name }: Place): string {
  return `${kind} ${name}`;
}

function placeOf(key: string): Place {
  const [kind = ''] = key.split(' ', 1);
  return { kind: kind === 'mount' ? 'mount' : 'path', name: key.slice(kind.length + 1) };
}
