import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Daemon, FakeWorld } from '../../world/fake-world.ts';

let world: FakeWorld;
let daemon: Daemon;
beforeEach(async () => {
  world = new FakeWorld();
  daemon = world.boot({ released: true });
  world.fiber('a');
  await round();
});
afterEach(() => world.dispose());

const round = () => world.run(daemon.round());
const run = () => daemon.memory.runs.all()[0]!;
const context = () => daemon.row('a')?.runtime?.context;
const grows = () => world.writesTranscript(run().launch_id, run().session_uuid ?? '');
const SECOND = 1_000;

describe('how full the context of a worker is', () => {
  it('is read when its transcript has grown, and no more often than every few seconds', async () => {
    expect(context()).toBeNull();
    world.contexts.set('/t.jsonl', { tokens: 10_000, most: 200_000 });
    grows();
    await round();
    await round();
    expect(context()).toEqual({ tokens: 10_000, most: 200_000 });
    world.contexts.set('/t.jsonl', { tokens: 20_000, most: 200_000 });
    world.clock.advance(SECOND);
    grows();
    await round();
    expect(context()).toMatchObject({ tokens: 10_000 });
    world.clock.advance(5 * SECOND);
    await round();
    expect(context()).toMatchObject({ tokens: 20_000 });
    world.contexts.set('/t.jsonl', { tokens: 30_000, most: 200_000 });
    world.clock.advance(60 * SECOND);
    await round();
    expect(context()).toMatchObject({ tokens: 20_000 });
  });
});
