import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { STORE } from '../world/fake-documents.ts';
import { type Daemon, FakeWorld } from '../world/fake-world.ts';

let world: FakeWorld;
let daemon: Daemon;
beforeEach(() => {
  world = new FakeWorld();
  daemon = world.boot({ released: true });
});
afterEach(() => world.dispose());

async function round(): Promise<void> {
  world.documents.list();
  await world.run(daemon.round());
}
const KINDS = {
  oneshot: {},
  standing: { kind: 'standing', schedule: '"0 8 * * *"' },
  pinned: { kind: 'pinned' },
};
type Kind = keyof typeof KINDS;
const CONCLUDED = [
  ['oneshot', 'active', 'clean_exit'],
  ['standing', 'closed', undefined],
  ['pinned', 'open', undefined],
] as const;
const text = (path: string) => world.documents.files.get(path)!;

async function working(kind: Kind): Promise<string> {
  const path = world.fiber('a', KINDS[kind]);
  await round();
  world.clock.advance(60_000);
  return path;
}

/** The document is at another place, where no listing has seen it yet. */
function moveTo(to: string, from: string): void {
  const moved = text(from);
  world.documents.remove(from);
  world.documents.files.set(`${STORE}/.fibers/${to}/${to.split('/').at(-1)}.md`, moved);
}

describe('a worker that ends while its document is absent', () => {
  it.each(CONCLUDED)('[LIF-5] whose %s it filed elsewhere is concluded there', async (kind, status, held) => {
    const path = await working(kind);
    moveTo('done/a', path);
    world.machine.exit(world.machine.worker('a'), { code: 0 });
    await world.run(daemon.dispatcher.reconcile());
    expect(daemon.memory.unconcluded.size).toBe(1);
    for (let turn = 0; turn < 3; turn += 1) await round();
    const row = daemon.row('done/a');
    expect([row?.status, row?.held]).toEqual([status, held]);
    expect(daemon.memory.unconcluded.size).toBe(0);
    expect(world.machine.creates).toHaveLength(1);
  });

  it.each(CONCLUDED)(
    '[LIF-5] whose %s had gone from the listing before is concluded when it is back, by the next daemon too',
    async (kind, status, held) => {
      const path = await working(kind);
      const before = text(path);
      world.documents.remove(path);
      world.documents.list();
      world.machine.exit(world.machine.worker('a'), { code: 0 });
      await round();
      daemon = world.boot({ released: true });
      await round();
      world.documents.files.set(path, before);
      for (let turn = 0; turn < 3; turn += 1) await round();
      const row = daemon.row('a');
      expect([row?.status, row?.held]).toEqual([status, held]);
      expect(world.machine.creates).toHaveLength(1);
    },
  );

  it('starts once more by itself where it had handed off first', async () => {
    const path = await working('oneshot');
    await world.handOff('a');
    const before = text(path);
    world.documents.remove(path);
    await round();
    world.documents.files.set(path, before);
    for (let turn = 0; turn < 3; turn += 1) await round();
    expect(daemon.row('a')?.held).toBeUndefined();
    expect(world.machine.creates).toHaveLength(2);
  });

  it('is settled when the document was certainly removed', async () => {
    const path = await working('standing');
    world.documents.remove(path);
    world.machine.exit(world.machine.worker('a'), { code: 0 });
    await round();
    const [run] = daemon.memory.unconcluded.values();
    run!.document_removed = true;
    await round();
    expect(daemon.memory.unconcluded.size).toBe(0);
    expect(daemon.world.runDirectories.all().map(({ state }) => state)).toEqual(['ended']);
  });
});
