import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Version } from '../../../src/contract/http/version.ts';
import { Bed, type Daemon } from '../../faults/bed.ts';
import { type HeldDisk, mountHeldDisk } from '../../faults/held-disk.ts';
import type { Seeded } from '../../faults/seeded.ts';
import { until } from '../../kit/until.ts';

/** Places of a bed that others control: each becomes a link to a disk that does not answer, and is put back. */
const PLACES = {
  'folder of claude': 'home/.claude',
  'folder of codex': 'home/.codex',
  'settings of claude': 'home/.claude/settings.json',
  'skills of claude': 'home/.claude/skills',
  'transcripts of an earlier worker': 'agent/projects/earlier',
  'remotes.json': 'config/remotes.json',
  'projects.json': 'config/projects.json',
  'agents.json': 'config/agents.json',
  'stores.json': 'config/stores.json',
  attachments: 'data/attachments',
  'folder of PATH': 'bin',
  '.git of a project': 'other/.git',
  'settings of a project': 'other/.claude',
  'a project': 'third',
} as const;
type Place = keyof typeof PLACES;

/** What is asked meanwhile; any answer will do, but one has to come. */
const ASKED = [
  '/doctor',
  '/config',
  '/agents',
  '/remotes',
  '/uncommitted?fiber=other',
  '/spend?session=earlier',
  '/transcript?session=earlier',
  '/sessions/links?sessions=earlier',
] as const;
const ANSWER_MS = 40_000;
const WORK_MS = 60_000;

export type Trial = { places: Place[]; asked: (typeof ASKED)[number][] };

export function trialOf(random: Seeded): Trial {
  const places = Object.keys(PLACES) as Place[];
  return {
    places: random.some(places, random.whole(1, 4)),
    asked: random.some(ASKED, random.whole(2, 5)),
  };
}

/** One real daemon, beside which places turn into links to a disk that never answers. */
export class DaemonTrials {
  readonly #bed: Bed;
  readonly #disk: HeldDisk;
  readonly #daemon: Daemon;
  #count = 0;

  private constructor(bed: Bed, disk: HeldDisk, daemon: Daemon) {
    this.#bed = bed;
    this.#disk = disk;
    this.#daemon = daemon;
  }

  static async begin(): Promise<DaemonTrials> {
    const bed = new Bed({ env: { SVC_LOG_LEVEL: 'warn' }, pace: [10, 20] });
    writeFileSync(`${bed.witness}.finish`, '');
    for (const name of ['other', 'third', 'bin', 'home/.claude', 'agent/projects/earlier'])
      mkdirSync(join(bed.root, name), { recursive: true });
    writeFileSync(join(bed.root, 'agent', 'projects', 'earlier', 'earlier.jsonl'), '{}\n');
    bed.env.PATH = `${join(bed.root, 'bin')}:${bed.env.PATH}`;
    const disk = await mountHeldDisk(join(bed.root, 'net'));
    await disk.hold();
    await bed.fiber('other', { armed: false, project_dir: join(bed.root, 'other') });
    const daemon = await bed.daemon().ready();
    await daemon.post('/quarantine/release', {});
    return new DaemonTrials(bed, disk, daemon);
  }

  /** What is wrong: a healthy fiber was not worked on, or an answer did not come. */
  async run({ places, asked }: Trial): Promise<string[]> {
    this.#count += 1;
    const wrong: string[] = [];
    const outermost = places.filter(
      (one) => !places.some((other) => PLACES[one].startsWith(`${PLACES[other]}/`)),
    );
    const put_back = outermost.map((place) => this.#turn(PLACES[place]));
    try {
      if (places.includes('a project'))
        await this.#bed.fiber(`third${this.#count}`, { project_dir: join(this.#bed.root, 'third') });
      const answers = asked.map(async (path) => {
        const answer = await this.#daemon.get(path, ANSWER_MS).catch((error: unknown) => String(error));
        if (typeof answer === 'string') wrong.push(`${path} was not answered: ${answer}`);
      });
      const slug = `w${this.#count}`;
      const uid = await this.#bed.fiber(slug);
      const told = (event: string) => this.#bed.told().some((one) => one.uid === uid && one.event === event);
      await until(`the work on ${slug}`, () => told('end'), WORK_MS).catch((error: Error) =>
        wrong.push(error.message),
      );
      await until(
        `the end of ${slug} in /state`,
        async () => !(await this.#daemon.state()).running.some((run) => run.uid === uid),
        WORK_MS,
      ).catch((error: Error) => wrong.push(error.message));
      await Promise.all(answers);
      const { components } = (await this.#daemon.get<Version>('/version')).json;
      for (const { name, state, restarts } of components)
        if (state !== 'running' || restarts > 0) wrong.push(`${name} is ${state} after ${restarts} restarts`);
    } finally {
      for (const back of put_back) back();
    }
    return wrong;
  }

  async end(): Promise<void> {
    // What waits for the disk ends with it.
    await this.#disk.remove();
    await this.#bed.dispose();
  }

  /** Makes a place a link to the disk; what is returned puts back what was there. */
  #turn(place: string): () => void {
    const path = join(this.#bed.root, place);
    const aside = join(this.#bed.root, 'aside', place.replaceAll('/', '-'));
    mkdirSync(dirname(aside), { recursive: true });
    mkdirSync(dirname(path), { recursive: true });
    const was_there = readdirSync(dirname(path)).includes(place.slice(place.lastIndexOf('/') + 1));
    if (was_there) renameSync(path, aside);
    symlinkSync(join(this.#bed.root, 'net', 'place'), path);
    return () => {
      rmSync(path);
      if (was_there) renameSync(aside, path);
    };
  }
}
