import { type ReactNode, useEffect, useMemo, useState } from 'react';
import { Desk } from '../desk/Desk.tsx';
import { PhoneDesk } from '../desk/PhoneDesk.tsx';
import { GestureLayer } from '../gestures/GestureLayer.tsx';
import { useShownCopy } from '../gestures/writes.ts';
import { lookForCaptures } from '../lib/awaited-captures.ts';
import { useFollowed } from '../lib/board.ts';
import { useToday } from '../lib/clock.ts';
import { useKeys } from '../lib/keys.ts';
import { usePhone } from '../lib/media.ts';
import { Late, part } from '../lib/parts.tsx';
import { go, goTo, useWhere } from '../lib/url.ts';
import { CardCache, deskOf, EMPTY_DESK } from '../model/desk.ts';
import { VIEW_NAMES } from '../model/where.ts';
import { Boundary } from '../ui/Boundary.tsx';
import { Toasts } from '../ui/Toasts.tsx';
import { Banners } from './Banners.tsx';
import { PhoneNav } from './PhoneNav.tsx';
import styles from './Shell.module.css';
import { RECORDING, TopBar } from './TopBar.tsx';

const closeFiber = () => go({ fiber: null, part: null });
const closeSheet = () => go({ sheet: null });

const FIBER_SHEET = part(() => import('../fiber/FiberSheet.tsx'), closeFiber);
const SCREEN = part(() => import('../screen/ScreenDialog.tsx'), closeFiber);
const SETTINGS = part(
  () => import('../settings/Settings.tsx'),
  () => goTo('desk'),
);
const DAY = part(
  () => import('../day/Day.tsx'),
  () => goTo('desk'),
);
const FIRST_RUN = part(() => import('../first-run/FirstRun.tsx'));
const TASK_FORM = part(() => import('../forms/TaskForm.tsx'), closeSheet);
const FINDER = part(() => import('../search/Finder.tsx'), closeSheet);
const MEETING = part(() => import('../meeting/MeetingSheet.tsx'), closeSheet);
const HOSTS = part(() => import('./HostsSheet.tsx'), closeSheet);
const KEY_SHEET = part(() => import('./KeySheet.tsx'), closeSheet);

export function Shell(): ReactNode {
  const { view, fiber, origin, part: shown, sheet } = useWhere();
  const followed = useFollowed();
  const today = useToday();
  const phone = usePhone();
  const [cache] = useState(() => new CardCache());
  const copy = useShownCopy(followed.copy);
  const desk = useMemo(() => (copy === null ? EMPTY_DESK : deskOf(copy, today, cache)), [copy, today, cache]);
  const asking = desk.needs_you.length;
  useEffect(() => {
    const name = VIEW_NAMES[view];
    const title = copy === null ? name : `${name}, ${copy.host}`;
    document.title = asking === 0 ? title : `(${asking}) ${title}`;
  }, [view, copy, asking]);
  useEffect(() => {
    if (copy !== null) lookForCaptures(copy);
  }, [copy]);
  useKeys({
    s: () => go({ sheet: 'stash' }),
    c: () => go({ sheet: 'capture' }),
    1: () => goTo('desk'),
    2: () => goTo('day'),
    ',': () => goTo('settings'),
    '/': () => go({ sheet: 'find', q: null }),
    '?': () => go({ sheet: 'keys' }),
    'g h': () => go({ sheet: 'hosts' }),
  });
  const DeskView = phone ? PhoneDesk : Desk;
  return (
    <div className={styles.shell}>
      <TopBar followed={followed} />
      <Banners followed={followed} held={desk.held_since_restart} />
      <main className={styles.main} aria-labelledby="view">
        {view === 'settings' ? (
          <Late of={SETTINGS} with={{}} />
        ) : view === 'day' ? (
          <Late of={DAY} with={{}} />
        ) : copy?.state === 'fresh' && copy.rows.size === 0 ? (
          <Late of={FIRST_RUN} with={{}} />
        ) : (
          <DeskView desk={desk} loaded={copy !== null} />
        )}
      </main>
      {fiber !== null && shown !== 'screen' && (
        <Boundary what="The fiber">
          <Late of={FIBER_SHEET} with={{ fiber, origin }} />
        </Boundary>
      )}
      <GestureLayer />
      {fiber !== null && shown === 'screen' && <Late of={SCREEN} with={{ fiber, origin }} />}
      {phone && <Late of={RECORDING} with={{}} meanwhile={null} />}
      <Toasts />
      {phone && <PhoneNav />}
      {(sheet === 'stash' || sheet === 'capture') && (
        <Late key={sheet} of={TASK_FORM} with={{ kind: sheet }} />
      )}
      {sheet === 'find' && <Late of={FINDER} with={{}} />}
      {sheet === 'meeting' && <Late of={MEETING} with={{}} />}
      {sheet === 'hosts' && <Late of={HOSTS} with={{}} />}
      {sheet === 'keys' && <Late of={KEY_SHEET} with={{}} />}
    </div>
  );
}
