import type { ReactNode } from 'react';
import { openHeld } from '../gestures/gestures.ts';
import { releaseAll } from '../gestures/release.ts';
import { askNow } from '../lib/board.ts';
import { useTimeText } from '../lib/clock.ts';
import type { Followed } from '../lib/follow-feed.ts';
import { Late, part } from '../lib/parts.tsx';
import { START_COMMAND } from '../lib/paths.ts';
import { silenceOf } from '../model/contact.ts';
import { lasting, timeOfDay } from '../model/wording.ts';
import { Button } from '../ui/Button.tsx';
import { Phrase } from '../ui/Sentence.tsx';
import { Banner } from './Banner.tsx';
import styles from './Banners.module.css';
import { SkewNotices } from './SkewNotices.tsx';

/** Without it the rest of the board still tells what concerns each fiber. */
const HOST_NOTICES = part(() => import('./HostNotices.tsx'));

/** What concerns the whole board, most urgent first. */
export function Banners({ followed, held }: { followed: Followed; held: number }): ReactNode {
  const { contact, copy } = followed;
  return (
    <div className={styles.banners} role="status">
      <SkewNotices contact={contact.kind} />
      {contact.kind === 'gone' && <Gone followed={followed} retry_at={contact.retry_at} />}
      {contact.kind === 'booting' && (
        <Banner glyph="launching" title={silenceOf(contact, null) ?? ''}>
          up for {lasting(contact.boot_ms)}; the board fills when it is ready
        </Banner>
      )}
      {contact.kind === 'refused' && (
        <Banner glyph="blocked" title="The daemon cannot tell now">
          {contact.message}
        </Banner>
      )}
      {copy?.state === 'cold' && contact.kind !== 'booting' && (
        <Banner glyph="launching" title={`${copy.host} is reading its stores`}>
          {copy.rows.size === 0 ? 'the board fills as they are read' : 'showing them as they were last read'}
        </Banner>
      )}
      {copy !== null && contact.kind !== 'gone' && contact.kind !== 'booting' && (
        <Late of={HOST_NOTICES} with={{}} />
      )}
      {held > 0 && (
        <Banner
          glyph="held"
          title={
            held === 1 ? '1 fiber is held since the restart' : `${held} fibers are held since the restart`
          }
          action={
            <>
              <Button tone="quiet" size="small" onClick={openHeld}>
                See {held === 1 ? 'it' : 'them'}
              </Button>
              <Button size="small" onClick={() => void releaseAll()}>
                Release {held === 1 ? 'it' : `all ${held}`}
              </Button>
            </>
          }
        >
          nothing launches until you release {held === 1 ? 'it' : 'them'}
        </Banner>
      )}
    </div>
  );
}

function Gone({ followed, retry_at }: { followed: Followed; retry_at: number }): ReactNode {
  const wait = useTimeText((now) => lasting(Math.max(1_000, retry_at - now + 999)));
  const { heard_at } = followed;
  return (
    <Banner
      glyph="unknown"
      title={silenceOf(followed.contact, followed.copy?.host ?? null) ?? ''}
      action={
        <Button size="small" onClick={askNow}>
          Try now
        </Button>
      }
    >
      {heard_at === null ? (
        <Phrase>
          {`your browser kept this page, and nothing else; start the daemon with \`${localStorage.getItem(START_COMMAND) ?? 'svc daemon start'}\`; `}
        </Phrase>
      ) : (
        `showing ${timeOfDay(heard_at)}; `
      )}
      {/* A count that changes every second is not for a screen reader. */}
      <span aria-hidden="true">trying again in {wait}</span>
    </Banner>
  );
}
