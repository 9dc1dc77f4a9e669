import type { Logger } from '../base/logger.ts';
import type { Mux } from './mux.ts';
import { sessionNamed } from './mux-listing.ts';
import { nameAside } from './session-name.ts';

/**
 * Frees a name of ours. A session that has only the name is renamed, so that what a person has in it goes on. False where
 * something of ours or of another daemon runs in it, and where it could not be renamed.
 */
export async function freeName(
  { mux, logger }: { mux: Pick<Mux, 'list' | 'rename'>; logger: Pick<Logger, 'warn'> },
  name: string,
): Promise<boolean> {
  const listing = await mux.list();
  const session = sessionNamed(listing, name);
  if (session === undefined) return true;
  if (session.panes.some(({ launch_id, dead }) => launch_id !== null && !dead)) return false;
  const aside = nameAside(name, (one) => sessionNamed(listing, one) !== undefined);
  const renamed = await mux.rename(session, aside);
  if (renamed === 'renamed')
    logger.warn(
      { session: name, renamed_to: aside },
      'renamed a tmux session that has only the name of one of ours',
    );
  return renamed !== 'unknown';
}
