import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AudioLink, BEHIND_BYTES } from '../../../board/src/meeting/audio-link.ts';
import type { LinkState } from '../../../board/src/model/audio-words.ts';
import type { AudioMessage } from '../../../board/src/model/wire.ts';
import { AUDIO_CLOSE_CODES } from '../../../src/contract/http/meeting.ts';

/** A daemon and a clock that do what the test says. */
class World {
  now = 0;
  readonly states: LinkState[] = [];
  readonly sockets: {
    message(text: string): void;
    closed(code: number, reason: string): void;
    sent: number;
    buffered: number;
    open: boolean;
  }[] = [];
  #timers: { at: number; run: () => void }[] = [];
  readonly link = new AudioLink(
    {
      open: (on) => {
        const socket = { ...on, sent: 0, buffered: 0, open: true };
        this.sockets.push(socket);
        return {
          send: () => {
            socket.sent += 1;
          },
          buffered: () => socket.buffered,
          close: () => {
            socket.open = false;
          },
        };
      },
      now: () => this.now,
      after: (ms, run) => {
        const timer = { at: this.now + ms, run };
        this.#timers.push(timer);
        return () => {
          this.#timers = this.#timers.filter((one) => one !== timer);
        };
      },
    },
    (state) => this.states.push(state),
  );

  get state(): LinkState {
    return this.states.at(-1)!;
  }

  get socket() {
    return this.sockets.at(-1)!;
  }

  get waits(): number[] {
    return this.#timers.map(({ at }) => at - this.now);
  }

  say(message: AudioMessage): void {
    this.socket.message(JSON.stringify(message));
  }

  /** The connection breaks, or none is made. */
  lose(code = 1006): void {
    const { socket } = this;
    socket.open = false;
    socket.closed(code, '');
  }

  pass(ms: number): void {
    this.now += ms;
    const due = this.#timers.filter(({ at }) => at <= this.now);
    this.#timers = this.#timers.filter(({ at }) => at > this.now);
    for (const { run } of due) run();
  }
}

const FRAME = new ArrayBuffer(640);
function connected(): World {
  const world = new World();
  world.link.open();
  world.say({ state: 'connected' });
  return world;
}

describe('the audio of a phone', () => {
  it('[AUD-4] [AUD-5] is sent only while the recorder takes it', () => {
    const world = new World();
    world.link.open();
    expect(world.link.send(FRAME)).toBe('idle');
    world.say({ state: 'waiting', reason: 'It loads.' });
    expect([world.link.send(FRAME), world.state]).toEqual(['idle', { kind: 'waiting', reason: 'It loads.' }]);
    world.say({ state: 'connected' });
    expect(world.link.send(FRAME)).toBe('sent');
    world.say({ state: 'waiting', reason: '' });
    expect(world.link.send(FRAME)).toBe('idle');
    expect(world.socket.sent).toBe(1);
  });

  it('is dropped where the line is two seconds behind, and goes on when it is not', () => {
    const world = connected();
    world.socket.buffered = BEHIND_BYTES;
    expect(world.link.send(FRAME)).toBe('sent');
    world.socket.buffered = BEHIND_BYTES + 1;
    expect(world.link.send(FRAME)).toBe('behind');
    world.socket.buffered = 0;
    expect(world.link.send(FRAME)).toBe('sent');
    expect(world.sockets.length).toBe(1);
  });

  it('takes a line that stays behind for a lost one', () => {
    const world = connected();
    const { socket } = world;
    socket.buffered = BEHIND_BYTES + 1;
    world.link.send(FRAME);
    world.pass(9_999);
    world.link.send(FRAME);
    expect(socket.open).toBe(true);
    world.pass(1);
    world.link.send(FRAME);
    expect([socket.open, world.state.kind]).toEqual([false, 'lost']);
    world.pass(500);
    world.say({ state: 'connected' });
    expect(world.link.send(FRAME)).toBe('sent');
  });

  it('takes a connection on which nothing is answered for a lost one, and leaves one that was answered', () => {
    const world = new World();
    world.link.open();
    const { socket } = world;
    world.pass(9_999);
    expect([socket.open, world.state.kind]).toEqual([true, 'connecting']);
    world.pass(1);
    expect([socket.open, world.state.kind]).toEqual([false, 'lost']);
    world.pass(500);
    expect(world.sockets.length).toBe(2);
    world.say({ state: 'waiting', reason: 'It loads.' });
    world.pass(60_000);
    expect([world.sockets.length, world.state.kind]).toEqual([2, 'waiting']);
  });

  it('is connected again after a lost connection, more slowly each time but never later than 2 s, and quickly once it worked', () => {
    const world = connected();
    const waits: number[] = [];
    for (let nth = 0; nth < 7; nth += 1) {
      world.lose();
      waits.push(...world.waits);
      world.pass(world.waits[0] ?? 0);
    }
    expect(waits).toEqual([500, 1_000, 2_000, 2_000, 2_000, 2_000, 2_000]);
    expect(world.state.kind).toBe('connecting');
    world.say({ state: 'waiting', reason: '' });
    world.lose();
    expect(world.waits).toEqual([500]);
  });

  it.each(Object.entries(AUDIO_CLOSE_CODES))(
    '[AUD-6] [AUD-7] [AUD-8] tries nothing more once it is %s, whether a frame says so or the code alone',
    (why, code) => {
      for (const by_frame of [true, false]) {
        const world = connected();
        const { socket } = world;
        if (by_frame) {
          world.say({ state: why, reason: 'Because.' } as AudioMessage);
          socket.closed(1006, '');
        } else socket.closed(code, 'Because.');
        expect(world.state).toEqual({ kind: 'over', why, reason: 'Because.' });
        world.pass(60_000);
        expect([world.sockets.length, world.waits, world.link.send(FRAME)]).toEqual([1, [], 'idle']);
        world.link.open();
        world.say({ state: 'connected' });
        expect(world.link.send(FRAME)).toBe('sent');
      }
    },
  );

  it('has one socket at a time and sends into no other, whatever happens', () => {
    const events = fc.constantFrom<(world: World) => void>(
      (world) => world.say({ state: 'connected' }),
      (world) => world.say({ state: 'waiting', reason: '' }),
      (world) => world.say({ state: 'replaced', reason: '' }),
      (world) => world.lose(),
      (world) => world.pass(700),
      (world) => world.pass(9_000),
      (world) => world.link.send(FRAME),
      (world) => world.link.open(),
      (world) => world.link.close(),
      (world) => {
        world.socket.buffered = BEHIND_BYTES * 2;
      },
    );
    fc.assert(
      fc.property(fc.array(events, { maxLength: 40 }), (done) => {
        const world = new World();
        world.link.open();
        for (const one of done) {
          one(world);
          expect(world.sockets.filter(({ open }) => open).length).toBeLessThan(2);
          expect(world.waits.length).toBeLessThan(2);
          for (const old of world.sockets.slice(0, -1)) expect(old.open).toBe(false);
        }
      }),
    );
  });
});
