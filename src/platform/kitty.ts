/** A kitty that takes remote control at a Unix socket. */
export type KittySocket = { path: string; pid: number | null };

/**
 * The sockets that a kitty may listen at, best first: the one that `KITTY_LISTEN_ON` names, then `/tmp/kitty-<pid>`,
 * newest process first. Those of processes that are gone are left out.
 */
export function kittySockets(options: {
  env: Record<string, string | undefined>;
  /** Names in `/tmp`. */
  names: readonly string[];
  isAlive: (pid: number) => boolean;
}): KittySocket[] {
  const named = /^unix:(\/.+)$/.exec(options.env.KITTY_LISTEN_ON ?? '')?.[1];
  const listed = options.names.flatMap((name) => {
    const pid = Number(/^kitty-(\d+)$/.exec(name)?.[1] ?? 0);
    return pid === 0 ? [] : [{ path: `/tmp/${name}`, pid }];
  });
  const pid = Number(/-(\d+)$/.exec(named ?? '')?.[1] ?? 0) || null;
  return [
    ...(named === undefined ? [] : [{ path: named, pid }]),
    ...listed.filter(({ path }) => path !== named).sort((a, b) => b.pid - a.pid),
  ].filter((socket) => socket.pid === null || options.isAlive(socket.pid));
}

/** argv for `kitten` (or `kitty`) that starts `command` from the kitty at `socket`, with no window. */
export function kittyBackgroundArgv(
  program: string,
  socket: string,
  command: readonly string[],
): [string, ...string[]] {
  return [program, '@', '--to', `unix:${socket}`, 'launch', '--type=background', '--cwd=/', '--', ...command];
}
