import { type ReactNode, useMemo } from 'react';
import { useTimeText } from '../lib/clock.ts';
import type { Followed } from '../lib/follow-feed.ts';
import { usePhone } from '../lib/media.ts';
import { Late, part } from '../lib/parts.tsx';
import { go, goTo, useWhere } from '../lib/url.ts';
import { hostLines, hostsText } from '../model/hosts.ts';
import { VIEW_KEYS, VIEW_NAMES, VIEWS, type View } from '../model/where.ts';
import { Button } from '../ui/Button.tsx';
import { HostTicks } from '../ui/HostTicks.tsx';
import { Lens } from '../ui/Lens.tsx';
import styles from './TopBar.module.css';

/** The meeting that is recorded; on a phone it stands at the bottom. */
export const RECORDING = part(() => import('../meeting/Recording.tsx'));

export function TopBar({ followed }: { followed: Followed }): ReactNode {
  const phone = usePhone();
  return (
    <header className={styles.bar}>
      <Views />
      <FindButton />
      {!phone && <Late of={RECORDING} with={{}} meanwhile={null} />}
      <Hosts followed={followed} />
      {!phone && (
        <>
          <Button shortcut="s" onClick={() => go({ sheet: 'stash' })}>
            Stash
          </Button>
          <Button tone="agent" shortcut="c" onClick={() => go({ sheet: 'capture' })}>
            Capture
          </Button>
          <Button aria-label="Keys" aria-keyshortcuts="?" onClick={() => go({ sheet: 'keys' })}>
            ?
          </Button>
        </>
      )}
    </header>
  );
}

/** The views, of which the one that is shown is the heading of the page; on a phone it alone. */
function Views(): ReactNode {
  const { view } = useWhere();
  const phone = usePhone();
  return (
    <nav className={styles.views} aria-label="Views">
      {VIEWS.filter((one) => one === view || !phone).map((one) =>
        one === view ? (
          <h1 key={one} id="view" className={styles.view}>
            {VIEW_NAMES[one]}
          </h1>
        ) : (
          <button
            key={one}
            type="button"
            className={styles.other}
            aria-keyshortcuts={VIEW_KEYS[one]}
            onClick={() => goTo(one)}
          >
            {VIEW_NAMES[one]}
            <kbd>{VIEW_KEYS[one]}</kbd>
          </button>
        ),
      )}
      {phone && (
        <select
          className={styles.pick}
          aria-label="Go to another view"
          value={view}
          onChange={({ target }) => goTo(target.value as View)}
        >
          {VIEWS.map((one) => (
            <option key={one} value={one}>
              {VIEW_NAMES[one]}
            </option>
          ))}
        </select>
      )}
    </nav>
  );
}

/** Opens the finder; on a phone a lens alone. */
function FindButton(): ReactNode {
  const phone = usePhone();
  return (
    <button
      type="button"
      className={styles.find}
      aria-label={phone ? 'Find' : undefined}
      aria-keyshortcuts="/"
      onClick={() => go({ sheet: 'find', q: null })}
    >
      <Lens />
      {!phone && (
        <>
          <span>Find a fiber or a command</span>
          <kbd>/</kbd>
        </>
      )}
    </button>
  );
}

/** How fresh what is shown of each host is, one tick for each; opens the list of them. */
function Hosts({ followed: { copy, contact, heard_at } }: { followed: Followed }): ReactNode {
  const lines = useMemo(
    () => (copy === null ? [] : hostLines(copy, contact, heard_at)),
    [copy, contact, heard_at],
  );
  const says = useTimeText((now) => hostsText(lines, contact, now).says);
  if (copy === null) return null;
  return (
    <button
      type="button"
      className={styles.hosts}
      title="How fresh each host is (g, then h)"
      onClick={() => go({ sheet: 'hosts' })}
    >
      <HostTicks ticks={lines.map(({ tick }) => tick)} />
      <span>
        <b>{hostsText(lines, contact, 0).name}</b> {says}
      </span>
    </button>
  );
}
