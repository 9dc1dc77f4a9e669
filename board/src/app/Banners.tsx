import type { ReactNode } from 'react';
import { askNow } from '../lib/board.ts';
import { useTimeText } from '../lib/clock.ts';
import type { Followed } from '../lib/follow-feed.ts';
import type { CardState } from '../model/states.ts';
import { lasting, timeOfDay } from '../model/wording.ts';
import { Glyph } from '../ui/Glyph.tsx';
import styles from './Banners.module.css';

/** What concerns the whole board, most urgent first. */
export function Banners({ followed, held }: { followed: Followed; held: number }): ReactNode {
  const { contact, copy } = followed;
  return (
    <div className={styles.banners} role="status">
      {contact.kind === 'gone' && <Gone followed={followed} retry_at={contact.retry_at} />}
      {contact.kind === 'booting' && (
        <Banner glyph="launching" title={`${contact.host} is starting`}>
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
      {copy?.state === 'partial' && (
        <Banner glyph="unknown" title="A store could not be read">
          its fibers are shown as they were last read, and <code>svc status</code> says why
        </Banner>
      )}
      {held > 0 && (
        <Banner
          glyph="held"
          title={
            held === 1 ? '1 fiber is held since the restart' : `${held} fibers are held since the restart`
          }
        >
          nothing launches until you let it: <code>svc daemon release</code>
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
      title={`No answer from ${followed.copy?.host ?? 'this daemon'}`}
      action={
        <button type="button" className={styles.button} onClick={askNow}>
          Try now
        </button>
      }
    >
      {heard_at === null ? '' : `showing ${timeOfDay(heard_at)}; `}
      {/* A count that changes every second is not for a screen reader. */}
      <span aria-hidden="true">trying again in {wait}</span>
    </Banner>
  );
}

type BannerProps = { glyph: CardState; title: string; children: ReactNode; action?: ReactNode };

function Banner({ glyph, title, children, action }: BannerProps): ReactNode {
  return (
    <div className={styles.banner}>
      <Glyph state={glyph} />
      <p>
        <b>{title}</b> <span>{children}</span>
      </p>
      {action}
    </div>
  );
}
