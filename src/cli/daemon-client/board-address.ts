/** The address of the board in a browser; null where the daemon listens on a socket alone, which no browser opens. */
export function boardAddress(listen: readonly string[]): string | null {
  const tcp = listen.find((entry) => !entry.startsWith('unix:'));
  return tcp === undefined ? null : `http://${tcp}/`;
}
