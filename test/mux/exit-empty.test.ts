import { afterEach, beforeEach, expect, it } from 'vitest';
import { createPrivateServer, type PrivateServer } from '../fixtures/mux/private-server.ts';

let server: PrivateServer;
beforeEach(() => {
  server = createPrivateServer();
});
afterEach(() => server.dispose());

const option = async () => (await server.tmux('show-options', '-s', 'exit-empty')).trim();

it.each([
  ['darwin', 'exit-empty off'],
  ['linux', 'exit-empty on'],
] as const)(
  '[MUX-3] [MUX-5] on %s a present server is told by a listing, once for each server: %s',
  async (platform, told) => {
    await server.tmux('new-session', '-d', '-s', 'present', 'sleep', '600');
    expect(await option()).toBe('exit-empty on');
    const mux = server.open({ platform, control: 'never' });
    expect((await mux.list()).kind).toBe('alive');
    expect(await option()).toBe(told);
    expect((await mux.list()).kind).toBe('alive');
    expect(await option()).toBe(told);
  },
);
