import { type Seeded, seeded } from '../../faults/seeded.ts';
import type { DiskFault } from './simulated-disks.ts';
import type { MuxFault } from './simulated-host.ts';

/** What a simulated world is made of. Hosts, stores and fibers are named by their index. */
type Setup = {
  hosts: {
    skew_ms: number;
    stores: number[];
    max_concurrent: number | null;
    /** The host on whose machine a second daemon with the same host id and a data dir of its own runs. */
    twin_of: number | null;
  }[];
  stores: number;
  fibers: { store: number; host: number; kind: 'oneshot' | 'pinned' | 'standing'; armed: boolean }[];
};

/** How a worker comes to its end. */
type WorkerEnd = 'success' | 'failure' | 'vanish' | 'hand_off';
/** What takes the place of a fiber's document. */
export type Hostile =
  | 'not_yaml'
  | 'wrong_types'
  | 'binary'
  | 'no_end'
  | 'folder'
  | 'dangling_link'
  | 'huge'
  | 'copy'
  | 'copy_elsewhere';
type DirectoryFault = 'missing' | 'unreadable' | 'silent';

/** Something wrong with one part of the world. */
export type Fault =
  | { of: 'tmux'; host: number; is: MuxFault }
  | { of: 'data_disk'; host: number; is: DiskFault }
  | { of: 'store_disk'; store: number; is: DiskFault }
  | { of: 'listing'; store: number }
  | { of: 'directory'; fiber: number; is: DirectoryFault }
  | { of: 'document'; fiber: number; is: Hostile }
  | { of: 'lock'; fiber: number }
  | { of: 'daemon'; host: number };

export type Action =
  | { do: 'begin' | 'end'; fault: Fault }
  | { do: 'crash'; host: number; changes: number; down_ms: number }
  | { do: 'stop'; host: number; down_ms: number }
  | { do: 'lose_tmux'; host: number; told: boolean; replaced: boolean }
  | { do: 'jump'; host: number; ms: number }
  | { do: 'release' | 'resume_all'; host: number }
  | { do: 'stop_all'; host: number; kill: boolean }
  | { do: 'arm' | 'disarm' | 'move' | 'remove' | 'kill'; fiber: number }
  | { do: 'edit_by_hand'; fiber: number; within: boolean }
  | { do: 'edit' | 'dispatch' | 'why'; fiber: number; host: number; force: boolean }
  | {
      do: 'lifecycle';
      fiber: number;
      verb: 'pause' | 'resume' | 'close' | 'reopen' | 'accept';
      kill: boolean;
    }
  | { do: 'worker_ends'; fiber: number; how: WorkerEnd }
  | { do: 'create'; store: number; host: number }
  /** Everything is fixed but `fault`; what is healthy must be served. */
  | { do: 'probe'; fault: Fault | null; reboots: boolean };

/** What is done, and how long nothing more is done afterwards, in milliseconds. */
type Step = { action: Action; then_ms: number };
export type Plan = { setup: Setup; steps: Step[] };

const HOSTILE: readonly Hostile[] = [
  ...[
    'not_yaml',
    'wrong_types',
    'binary',
    'no_end',
    'folder',
    'dangling_link',
    'huge',
    'copy',
    'copy_elsewhere',
  ],
] as Hostile[];
const DISK_FAULTS: readonly DiskFault[] = ['full', 'failing', 'read_only'];
const WAITS_MS = [0, 1, 20, 300, 1_000, 5_000, 12_000, 31_000];
/** A poll interval and a little more. */
const ROUND_MS = 31_000;
const MINUTE = 60_000;

/** The plan of a seed: always the same one. */
export function planOf(seed: string): Plan {
  const random = seeded(numberOf(seed));
  const setup = makeSetup(random);
  const steps: Step[] = [];
  const rounds = random.whole(1, 3);
  for (const host of setup.hosts.keys())
    if (random.chance(0.8)) steps.push({ action: { do: 'release', host }, then_ms: one(random, WAITS_MS) });
  for (let round = 0; round < rounds; round += 1) {
    const length = random.whole(3, 16);
    for (let step = 0; step < length; step += 1)
      if (random.chance(0.1)) steps.push(...makeScene(random, setup));
      else steps.push({ action: makeAction(random, setup), then_ms: one(random, WAITS_MS) });
    const fault = random.chance(0.15) ? null : makeFault(random, setup);
    steps.push({ action: { do: 'probe', fault, reboots: random.chance(0.4) }, then_ms: 0 });
  }
  return { setup, steps };
}

/** A number for a seed of any text. */
export function numberOf(seed: string): number {
  let number = 2_166_136_261;
  for (const character of seed) number = Math.imul(number ^ (character.codePointAt(0) ?? 0), 16_777_619);
  return number >>> 0;
}

function one<T>(random: Seeded, from: readonly T[]): T {
  return from[random.whole(0, from.length - 1)] as T;
}

function makeSetup(random: Seeded): Setup {
  const stores = random.whole(1, 3);
  const hosts = Array.from({ length: random.whole(1, 3) }, () => ({
    skew_ms: one(random, [0, 0, 700, -45_000, 3_600_000]),
    stores: random.chance(0.7) ? range(stores) : random.some(range(stores), random.whole(1, stores)),
    max_concurrent: random.chance(0.2) ? random.whole(3, 6) : null,
    twin_of: null as number | null,
  }));
  const fibers = Array.from({ length: random.whole(2, 7) }, () => {
    const host = random.whole(0, hosts.length - 1);
    return {
      host,
      store: one(random, hosts[host]!.stores),
      kind: one(random, ['oneshot', 'oneshot', 'oneshot', 'pinned', 'standing'] as const),
      armed: random.chance(0.7),
    };
  });
  if (random.chance(0.15)) {
    const twin_of = random.whole(0, hosts.length - 1);
    hosts.push({ ...hosts[twin_of]!, twin_of });
  }
  return { hosts, stores, fibers };
}

function makeFault(random: Seeded, setup: Setup): Fault {
  const host = random.whole(0, setup.hosts.length - 1);
  const store = random.whole(0, setup.stores - 1);
  const fiber = random.whole(0, setup.fibers.length - 1);
  return one<() => Fault>(random, [
    () => ({ of: 'tmux', host, is: one(random, ['silent', 'slow'] as const) }),
    () => ({ of: 'data_disk', host, is: one(random, DISK_FAULTS) }),
    () => ({ of: 'store_disk', store, is: one(random, DISK_FAULTS) }),
    () => ({ of: 'listing', store }),
    () => ({ of: 'directory', fiber, is: one(random, ['missing', 'unreadable', 'silent'] as const) }),
    () => ({ of: 'document', fiber, is: one(random, HOSTILE) }),
    () => ({ of: 'document', fiber, is: one(random, HOSTILE) }),
    () => ({ of: 'lock', fiber }),
    () => ({ of: 'daemon', host }),
  ])();
}

function makeAction(random: Seeded, setup: Setup): Action {
  const host = random.whole(0, setup.hosts.length - 1);
  const store = random.whole(0, setup.stores - 1);
  const fiber = random.whole(0, setup.fibers.length - 1);
  const down_ms = one(random, [0, 500, 20_000, 2 * MINUTE]);
  const ends: WorkerEnd[] = ['success', 'failure', 'failure', 'vanish', 'hand_off', 'hand_off'];
  const actions: [number, () => Action][] = [
    [10, () => ({ do: random.chance(0.6) ? 'begin' : 'end', fault: makeFault(random, setup) })],
    [5, () => ({ do: 'crash', host, changes: random.whole(0, 25), down_ms })],
    [1, () => ({ do: 'stop', host, down_ms })],
    [2, () => ({ do: 'lose_tmux', host, told: random.chance(0.5), replaced: random.chance(0.5) })],
    [
      2,
      () => ({
        do: 'jump',
        host,
        ms: one(random, [-2 * MINUTE, -90 * MINUTE, 3 * MINUTE, 26 * 60 * MINUTE]),
      }),
    ],
    [4, () => ({ do: 'release', host })],
    [2, () => ({ do: 'stop_all', host, kill: random.chance(0.4) })],
    [3, () => ({ do: 'resume_all', host })],
    [4, () => ({ do: 'arm', fiber })],
    [2, () => ({ do: 'disarm', fiber })],
    [1, () => ({ do: 'move', fiber })],
    [1, () => ({ do: 'remove', fiber })],
    [4, () => ({ do: 'kill', fiber })],
    [3, () => ({ do: 'edit_by_hand', fiber, within: random.chance(0.7) })],
    [6, () => ({ do: 'edit', fiber, host, force: false })],
    [5, () => ({ do: 'dispatch', fiber, host: setup.fibers[fiber]!.host, force: random.chance(0.4) })],
    [1, () => ({ do: 'why', fiber, host, force: false })],
    [
      5,
      () => ({
        do: 'lifecycle',
        fiber,
        verb: one(random, ['pause', 'resume', 'close', 'reopen', 'accept'] as const),
        kill: random.chance(0.3),
      }),
    ],
    [12, () => ({ do: 'worker_ends', fiber, how: one(random, ends) })],
    [1, () => ({ do: 'create', store, host })],
  ];
  let left = random.whole(
    1,
    actions.reduce((sum, [weight]) => sum + weight, 0),
  );
  for (const [weight, make] of actions) {
    left -= weight;
    if (left <= 0) return make();
  }
  throw new Error('the weights do not add up');
}

/** What single actions meet too seldom: situations in which one rule alone keeps something from happening. */
function makeScene(random: Seeded, setup: Setup): Step[] {
  const fiber = random.whole(0, setup.fibers.length - 1);
  const { host } = setup.fibers[fiber]!;
  const step = (action: Action, then_ms: number): Step => ({ action, then_ms });
  const running = [step({ do: 'release', host }, 20), step({ do: 'arm', fiber }, ROUND_MS)];
  return one<() => Step[]>(random, [
    // A worker is killed, and two rounds pass.
    () => [
      ...running,
      step({ do: 'kill', fiber }, ROUND_MS),
      step({ do: 'why', fiber, host, force: false }, ROUND_MS),
    ],
    // Its folder is copied beside a worker, into its store or another one, and the worker ends.
    () => {
      const fault: Fault = { of: 'document', fiber, is: one(random, ['copy', 'copy_elsewhere'] as const) };
      return [
        ...running,
        step({ do: 'begin', fault }, ROUND_MS),
        step({ do: 'probe', fault, reboots: random.chance(0.3) }, 0),
        step({ do: 'begin', fault }, 1_000),
        step({ do: 'worker_ends', fiber, how: 'failure' }, ROUND_MS),
      ];
    },
    // The brake is on, through a crash, and somebody arms a fiber.
    () => [
      step({ do: 'stop_all', host, kill: random.chance(0.5) }, 5_000),
      step({ do: 'crash', host, changes: 0, down_ms: 500 }, 12_000),
      ...running,
    ],
    // Two write at the same time.
    () => [
      step({ do: 'edit_by_hand', fiber, within: true }, 0),
      step({ do: 'edit', fiber, host, force: false }, 1_000),
      step({ do: 'edit', fiber, host, force: false }, 20),
    ],
    // A daemon dies while it writes.
    () => [
      step({ do: 'crash', host, changes: random.whole(1, 14), down_ms: 500 }, 0),
      step({ do: random.chance(0.5) ? 'edit' : 'dispatch', fiber, host, force: false }, 12_000),
    ],
    // A worker ends as soon as it is started, again and again.
    () => [
      ...running,
      ...Array.from({ length: 22 }, () =>
        step({ do: 'worker_ends', fiber, how: one(random, ['failure', 'hand_off'] as const) }, 5_000),
      ),
    ],
    // A daemon is killed beside its workers, and nobody releases what it holds.
    () => [
      ...running,
      step({ do: 'crash', host, changes: 0, down_ms: 20_000 }, ROUND_MS),
      step({ do: 'worker_ends', fiber, how: 'failure' }, ROUND_MS),
    ],
  ])();
}

function range(length: number): number[] {
  return Array.from({ length }, (_, index) => index);
}
