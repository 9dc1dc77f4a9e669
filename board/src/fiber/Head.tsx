import type { ReactNode } from 'react';
import { RefusedStrip } from '../gestures/CardActions.tsx';
import { gesturesAt, openMenu, runGesture } from '../gestures/gestures.ts';
import { usePending } from '../gestures/writes.ts';
import { useTimeText, useToday } from '../lib/clock.ts';
import type { Followed } from '../lib/follow-feed.ts';
import type { Aim } from '../model/aim.ts';
import { cardOf } from '../model/card.ts';
import type { CardButton } from '../model/card-buttons.ts';
import { freshness } from '../model/contact.ts';
import { dayIn } from '../model/days.ts';
import { agedOf, agedText, otherLine } from '../model/hosts.ts';
import { STATE_NAMES } from '../model/states.ts';
import type { FiberRow } from '../model/wire.ts';
import { dueWords } from '../model/wording.ts';
import { Button } from '../ui/Button.tsx';
import { Glyph } from '../ui/Glyph.tsx';
import { Hidden } from '../ui/Hidden.tsx';
import { Path } from '../ui/Sentence.tsx';
import styles from './Head.module.css';

type HeadProps = {
  row: FiberRow;
  followed: Followed;
  title_id: string;
  /** Whether its document is still in the store. */
  gone: boolean;
  /** Shows the screen of its worker. */
  watch(): void;
  onClose(): void;
};

/** What the fiber is and how it stands, with what can be done to it. */
export function Head({ row, followed, title_id, gone, watch, onClose }: HeadProps): ReactNode {
  const today = useToday();
  const { copy, contact, heard_at } = followed;
  const aged = copy === null ? null : agedOf(copy, row);
  const fresh = useTimeText((now) => {
    const other = row.origin === copy?.host ? undefined : copy?.hosts.get(row.origin);
    if (other !== undefined) {
      const line = otherLine(row.origin, other, contact, heard_at);
      return line.tick === 'fresh' ? 'fresh' : agedText(line, now);
    }
    return freshness(contact, heard_at === null ? null : now - heard_at);
  });
  const card = cardOf(row, today, aged);
  const pending = usePending(card.key);
  const day = dayIn(row.due);
  const due = day === null ? null : dueWords(day, today);
  return (
    <header className={styles.head}>
      <div className={styles.words}>
        <h2 className={styles.title} id={title_id} tabIndex={-1} data-autofocus>
          <Glyph state={gone ? 'unknown' : card.state} />
          <span>{card.title}</span>
        </h2>
        <p className={styles.facts}>
          <em>
            <Hidden>State: </Hidden>
            {gone ? 'Gone' : STATE_NAMES[card.state]}
          </em>
          <span>
            <Path>{row.id}</Path>
          </span>
          {card.agent !== null && <b>{card.agent}</b>}
          <span>
            {card.host}, {fresh}
          </span>
          {due !== null && <span data-due={due.when}>{due.text}</span>}
        </p>
        {pending?.phase === 'refused' && <RefusedStrip card={card} refusal={pending.refusal} />}
      </div>
      {!gone && (
        <Actions
          aim={{ row_key: card.key, saw: card.saw }}
          buttons={card.buttons}
          idle={row.runtime === undefined && row.status !== 'closed'}
          watch={row.runtime?.mux_session == null ? null : watch}
        />
      )}
      <Button tone="quiet" onClick={onClose}>
        Close
      </Button>
    </header>
  );
}

type ActionsProps = {
  aim: Aim;
  buttons: readonly CardButton[];
  /** Whether it could have a worker, and has none. */
  idle: boolean;
  /** Shows the screen of its worker; null where there is none. */
  watch: (() => void) | null;
};

/** What is most likely done to the fiber, and the menus of everything else. */
function Actions({ aim, buttons, idle, watch }: ActionsProps): ReactNode {
  const offered = gesturesAt(aim.row_key);
  const main = buttons.filter(({ id }) => id !== 'reply');
  const stop = offered.find(({ id }) => id === 'stop');
  // Its document may be read before the feed, of which what can be done is made.
  if (offered.length === 0) return null;
  const launch = idle && main.length === 0 && offered.find(({ id }) => id === 'launch');
  return (
    <div className={styles.actions}>
      <Button shortcut="m" onClick={() => openMenu(aim, 'move')}>
        Move
      </Button>
      {watch !== null && (
        <Button shortcut="w" onClick={watch}>
          Screen
        </Button>
      )}
      {main.map(({ id, name }) => (
        <Button key={id} tone={id === 'accept' ? 'agent' : 'plain'} onClick={() => runGesture(aim, id)}>
          {name}
        </Button>
      ))}
      {launch && (
        <Button shortcut="L" onClick={() => runGesture(aim, 'launch')}>
          {launch.verb}
        </Button>
      )}
      {stop !== undefined && <Button onClick={() => runGesture(aim, 'stop')}>{stop.verb}</Button>}
      <Button tone="quiet" aria-label="Everything that can be done" onClick={() => openMenu(aim, 'all')}>
        <span aria-hidden="true">•••</span>
      </Button>
    </div>
  );
}
