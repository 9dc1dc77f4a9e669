import { memo, type ReactNode } from 'react';
import { useTimeText, useToday } from '../lib/clock.ts';
import type { Band, Card, Fact } from '../model/card.ts';
import { STATE_NAMES } from '../model/states.ts';
import { comingMoment, lasting, moment, shortDay } from '../model/wording.ts';
import { Glyph } from '../ui/Glyph.tsx';
import { Hidden } from '../ui/Hidden.tsx';
import styles from './CardView.module.css';

export const CardView = memo(function CardView({
  card,
  tab_stop,
}: {
  card: Card;
  tab_stop: boolean;
}): ReactNode {
  const { state, title, path, agent, host, fact, outcome, band } = card;
  return (
    <article className={styles.card} data-state={state} data-fiber={card.id} tabIndex={tab_stop ? 0 : -1}>
      <div className={styles.inside}>
        <h4 className={styles.title}>
          <Glyph state={state} />
          <span>
            <Hidden>{STATE_NAMES[state]}: </Hidden>
            {title}
          </span>
        </h4>
        <p className={styles.facts}>
          {path !== null && <span className={styles.path}>{path}</span>}
          {agent !== null && <b>{agent}</b>}
          {state === 'elsewhere' ? (
            <span className={styles.chip}>{host}</span>
          ) : (
            <span className={styles.host}>{host}</span>
          )}
          {fact !== null && <FactText fact={fact} />}
        </p>
        {outcome !== null && <p className={styles.outcome}>{outcome}</p>}
      </div>
      {band !== null && <BandView band={band} />}
    </article>
  );
});

function FactText({ fact }: { fact: Fact }): ReactNode {
  const today = useToday();
  const text = useTimeText((now) => factText(fact, now, today));
  return <em className={fact.kind === 'due' && fact.late ? styles.late : undefined}>{text}</em>;
}

function factText(fact: Fact, now: number, today: string): string {
  switch (fact.kind) {
    case 'due':
      return `due ${shortDay(fact.day, today)}`;
    case 'soon':
      return 'starts soon';
    case 'closed':
      return `closed ${moment(fact.at, today)}`;
    case 'next':
      return `next ${comingMoment(fact.at, today)}`;
    case 'launching':
      return `launching, ${lasting(now - fact.at)}`;
    case 'idle':
      return `idle, ${lasting(now - fact.at)}`;
  }
}

function BandView({ band }: { band: Band }): ReactNode {
  if (band.tone === 'agent') return <Work since={band.since} active_at={band.active_at} />;
  if (band.tone === 'you') return <Ask since={band.since} text={band.text} />;
  return (
    <div className={styles[band.tone]}>
      <p className={styles.said}>{band.text}</p>
    </div>
  );
}

function Work({ since, active_at }: { since: number; active_at: number | null }): ReactNode {
  const lasted = useTimeText((now) => `working, ${lasting(now - since)}`);
  const active = useTimeText((now) => (active_at === null ? '' : activity(now - active_at)));
  return (
    <p className={styles.agent}>
      <b>{lasted}</b>
      <span>{active}</span>
    </p>
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
    <div className={styles.you}>
      <p className={styles.heading}>{heading}</p>
      {text !== null && <p className={styles.said}>{text}</p>}
    </div>
  );
}
