import { memo, type ReactNode, useRef } from 'react';
import { CardButtons, MenuButton, openByLongPress, RefusedStrip } from '../gestures/CardActions.tsx';
import { useDragBinding } from '../gestures/drag-binding.ts';
import { useIsDragged } from '../gestures/dragged.ts';
import { useIsSelected } from '../gestures/selection.ts';
import { usePending } from '../gestures/writes.ts';
import { useTimeText, useToday } from '../lib/clock.ts';
import { Late, part } from '../lib/parts.tsx';
import type { Band, Card, Fact } from '../model/card.ts';
import type { Aged } from '../model/hosts.ts';
import { STATE_NAMES } from '../model/states.ts';
import type { Wake } from '../model/wake.ts';
import { comingMoment, dueWords, lasting, moment } from '../model/wording.ts';
import { Glyph } from '../ui/Glyph.tsx';
import { Hidden } from '../ui/Hidden.tsx';
import styles from './CardView.module.css';

const WAKE = part(() => import('../time/Wake.tsx'));

const SENT = part(() => import('./SentChips.tsx'));

export const CardView = memo(function CardView({
  card,
  tab_stop,
}: {
  card: Card;
  tab_stop: boolean;
}): ReactNode {
  const { state, title, path, agent, host, fact, outcome, band, wake, sent, buttons } = card;
  const pending = usePending(card.key);
  const element = useRef<HTMLElement>(null);
  const dragged = useIsDragged(card.key);
  const chosen = useIsSelected(card.key);
  useDragBinding(element, ({ bindCard }, at) => bindCard(at, card.key), card.key);
  const under_band = band !== null && band.tone !== 'agent';
  const actions = <CardButtons card={card} tab_stop={tab_stop} />;
  return (
    <article
      ref={element}
      className={styles.card}
      data-dragged={dragged}
      data-state={state}
      data-fiber={card.id}
      data-row={card.key}
      data-saw={card.saw}
      data-chosen={chosen}
      aria-label={`${chosen ? 'Chosen, ' : ''}${STATE_NAMES[state]}: ${title}`}
      tabIndex={tab_stop ? 0 : -1}
      aria-busy={pending?.phase === 'sending'}
      onContextMenu={openByLongPress}
    >
      <div className={styles.inside}>
        <h3 className={styles.title}>
          <Glyph state={state} />
          <span>
            <Hidden>{STATE_NAMES[state]}: </Hidden>
            {title}
          </span>
        </h3>
        <p className={styles.facts}>
          {path !== null && <span className={styles.path}>{path}</span>}
          {agent !== null && <b>{agent}</b>}
          {card.shares_folder && <span>shared folder</span>}
          {card.aged !== null ? (
            <AgedHost aged={card.aged} />
          ) : state === 'elsewhere' ? (
            <span className={styles.chip}>{host}</span>
          ) : (
            <span className={styles.host}>{host}</span>
          )}
          {pending?.phase === 'sending' ? <em>saving</em> : fact !== null && <FactText fact={fact} />}
        </p>
        {outcome !== null && <p className={styles.outcome}>{outcome}</p>}
        {buttons.length > 0 && !under_band && (
          <div className={styles.actions}>
            {sent !== null && <Late of={SENT} with={{ sent, tab_stop }} meanwhile={null} />}
            {actions}
          </div>
        )}
      </div>
      {wake?.waits_since != null && (
        <div className={styles.waited}>
          <Late of={WAKE} with={{ wake }} meanwhile={null} />
        </div>
      )}
      {band !== null && (
        <BandView band={band} wake={wake}>
          {under_band && actions}
        </BandView>
      )}
      <MenuButton card={card} tab_stop={tab_stop} />
      {pending?.phase === 'sending' && <span className={styles.saving} aria-hidden="true" />}
      {pending?.phase === 'refused' && <RefusedStrip card={card} refusal={pending.refusal} />}
    </article>
  );
});

function AgedHost({ aged: { host, at } }: { aged: Aged }): ReactNode {
  const age = useTimeText((now) => (at === null ? 'no answer' : `${lasting(now - at)} old`));
  return (
    <span className={styles.chip}>
      {host}, {age}
    </span>
  );
}

function FactText({ fact }: { fact: Fact }): ReactNode {
  const today = useToday();
  const text = useTimeText((now) => factText(fact, now, today));
  return <em data-due={fact.kind === 'due' ? dueWords(fact.day, today).when : undefined}>{text}</em>;
}

function factText(fact: Fact, now: number, today: string): string {
  switch (fact.kind) {
    case 'due':
      return dueWords(fact.day, today).text;
    case 'soon':
      return 'starts soon';
    case 'closed':
      return `closed ${moment(fact.at, today)}`;
    case 'accepted':
      return `accepted, closed ${moment(fact.at, today)}`;
    case 'set_aside':
      return `set aside, closed ${moment(fact.at, today)}`;
    case 'next':
      return `next ${comingMoment(fact.at, today)}`;
    case 'launching':
      return `launching, ${lasting(now - fact.at)}`;
    case 'idle':
      return `idle, ${lasting(now - fact.at)}`;
  }
}

/** `children` stand at its right. */
function BandView({
  band,
  wake,
  children,
}: {
  band: Band;
  wake: Wake | null;
  children: ReactNode;
}): ReactNode {
  if (band.tone === 'agent') return <Work since={band.since} active_at={band.active_at} wake={wake} />;
  return (
    <div className={`${styles.band} ${styles[band.tone]}`}>
      {band.tone === 'you' ? (
        <Ask since={band.since} text={band.text} />
      ) : (
        <p className={styles.said}>{band.text}</p>
      )}
      {children}
    </div>
  );
}

type WorkProps = { since: number; active_at: number | null; wake: Wake | null };

function Work({ since, active_at, wake }: WorkProps): ReactNode {
  const lasted = useTimeText((now) => `working, ${lasting(now - since)}`);
  const active = useTimeText((now) => (active_at === null ? '' : activity(now - active_at)));
  const words = <span className={styles.active}>{active}</span>;
  return (
    <div className={styles.agent}>
      <b>{lasted}</b>
      {wake === null ? words : <Late of={WAKE} with={{ wake, children: words }} meanwhile={words} />}
    </div>
  );
}

/** Below this age the last sign of life is now. */
const NOW_MS = 10_000;

function activity(age: number): string {
  return age < NOW_MS ? 'active now' : `active ${lasting(age)} ago`;
}

function Ask({ since, text }: { since: number | null; text: string | null }): ReactNode {
  const heading = useTimeText((now) =>
    since === null ? 'Waiting for you' : `Waiting for you, ${lasting(now - since)}`,
  );
  return (
    <div>
      <p className={styles.heading}>{heading}</p>
      {text !== null && <p className={styles.said}>{text}</p>}
    </div>
  );
}
