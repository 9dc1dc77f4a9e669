import { type ReactNode, useEffect, useMemo, useState } from 'react';
import { Desk } from '../desk/Desk.tsx';
import { loadGestures, useOpen } from '../gestures/gestures.ts';
import { useCardKeys } from '../gestures/use-card-keys.ts';
import { useShownCopy } from '../gestures/writes.ts';
import { lookForCaptures } from '../lib/awaited-captures.ts';
import { useFollowed } from '../lib/board.ts';
import { useToday } from '../lib/clock.ts';
import { shownOf } from '../lib/follow-feed.ts';
import { useKeys } from '../lib/keys.ts';
import { usePhone } from '../lib/media.ts';
import { useNextTask } from '../lib/next-task.ts';
import { Late, loadWhenIdle, part, whyNotLoaded } from '../lib/parts.tsx';
import { toast } from '../lib/toasts.ts';
import { go, goTo, useWhere } from '../lib/url.ts';
import { CardCache, type Desk as DeskModel, deskOf, EMPTY_DESK } from '../model/desk.ts';
import { VIEW_KEYS, VIEW_NAMES, VIEWS } from '../model/where.ts';
import { Boundary } from '../ui/Boundary.tsx';
import { Toasts } from '../ui/Toasts.tsx';
import { Banners } from './Banners.tsx';
import styles from './Shell.module.css';
import { RECORDING, TopBar } from './TopBar.tsx';

const closeFiber = () => go({ fiber: null, part: null });
const closeSheet = () => go({ sheet: null });
const VIEW_GOES = Object.fromEntries(VIEWS.map((one) => [VIEW_KEYS[one], () => goTo(one)]));

const GESTURES = part(() => import('../gestures/GestureLayer.tsx'));
const PHONE_DESK = part(() => import('../desk/PhoneDesk.tsx'));
const PHONE_NAV = part(() => import('./PhoneNav.tsx'));
const FIBER_SHEET = part(async () => {
  const [sheet] = await Promise.all([import('../fiber/FiberSheet.tsx'), loadGestures()]);
  return sheet;
}, closeFiber);
const SCREEN = part(() => import('../screen/ScreenDialog.tsx'), closeFiber);
const SETTINGS = part(
  () => import('../settings/Settings.tsx'),
  () => goTo('desk'),
);
const DAY = part(
  () => import('../day/Day.tsx'),
  () => goTo('desk'),
);
const WEEK = part(
  () => import('../day/Week.tsx'),
  () => goTo('desk'),
);
const CHRONICLE = part(
  () => import('../desk/Chronicle.tsx'),
  () => goTo('desk'),
);
const SHELF = part(
  () => import('../desk/Shelf.tsx'),
  () => goTo('desk'),
);
const FIRST_RUN = part(() => import('../first-run/FirstRun.tsx'));
const TASK_FORM = part(() => import('../forms/TaskForm.tsx'), closeSheet);
const FINDER = part(() => import('../search/Finder.tsx'), closeSheet);
const MEETING = part(() => import('../meeting/MeetingSheet.tsx'), closeSheet);
const HOSTS = part(() => import('./HostsSheet.tsx'), closeSheet);
const KEY_SHEET = part(() => import('./KeySheet.tsx'), closeSheet);

/** The cards that the filter of the address lets through; no card before it is known which. */
function useFiltered(desk: DeskModel, filter: string | null): DeskModel {
  const [loaded, setLoaded] = useState<typeof import('../model/desk-filter.ts') | null>(null);
  const wanted = filter !== null;
  useEffect(() => {
    if (!wanted || loaded !== null) return;
    import('../model/desk-filter.ts').then(setLoaded, async () => {
      toast(await whyNotLoaded(), { tone: 'fault' });
      go({ filter: null }, { replace: true });
    });
  }, [wanted, loaded]);
  return useMemo(
    () => (filter === null ? desk : (loaded?.narrowed(desk, filter) ?? EMPTY_DESK)),
    [desk, filter, loaded],
  );
}

export function Shell(): ReactNode {
  const { view, fiber, origin, part: shown, sheet, filter } = useWhere();
  const followed = useFollowed();
  const today = useToday();
  const phone = usePhone();
  const [cache] = useState(() => new CardCache());
  const newest = useShownCopy(shownOf(followed));
  const whole = followed.copy !== null;
  const found = useMemo(
    () => ({ copy: newest, whole, desk: newest === null ? EMPTY_DESK : deskOf(newest, today, cache) }),
    [newest, whole, today, cache],
  );
  const { copy, desk, whole: counted } = useNextTask(found);
  const asking = desk.needs_you.length;
  useEffect(() => {
    const name = VIEW_NAMES[view];
    const title = copy === null ? name : `${name}, ${copy.host}`;
    document.title = asking === 0 ? title : `(${asking}) ${title}`;
  }, [view, copy, asking]);
  useEffect(() => {
    if (copy !== null && counted) lookForCaptures(copy);
  }, [copy, counted]);
  const loaded = copy !== null;
  useEffect(() => {
    // Once there is something to be seen: they are there before they are asked for.
    if (loaded)
      loadWhenIdle([FINDER, TASK_FORM, FIBER_SHEET, { load: () => import('../model/desk-filter.ts') }]);
  }, [loaded]);
  useKeys({
    s: () => go({ sheet: 'stash' }),
    c: () => go({ sheet: 'capture' }),
    ...VIEW_GOES,
    '/': () => go({ sheet: 'find', q: null }),
    '?': () => go({ sheet: 'keys' }),
    'g h': () => go({ sheet: 'hosts' }),
  });
  useCardKeys();
  const gesturing = useOpen() !== null;
  const narrow = useFiltered(desk, filter);
  return (
    <div className={styles.shell}>
      <TopBar followed={followed} />
      <Banners followed={followed} held={desk.held_since_restart} />
      <main className={styles.main} aria-labelledby="view" data-counted={counted}>
        {view === 'settings' ? (
          <Late key="settings" of={SETTINGS} with={{}} />
        ) : view === 'day' ? (
          <Late key="day" of={DAY} with={{}} />
        ) : view === 'week' ? (
          <Late key="week" of={WEEK} with={{}} />
        ) : copy?.state === 'fresh' && copy.rows.size === 0 ? (
          <Late key="first-run" of={FIRST_RUN} with={{}} />
        ) : view === 'chronicle' ? (
          <Late key="chronicle" of={CHRONICLE} with={{ copy: counted ? copy : null }} />
        ) : view === 'shelf' ? (
          <Late key="shelf" of={SHELF} with={{ desk: narrow, loaded: counted }} />
        ) : phone ? (
          <Late key="desk" of={PHONE_DESK} with={{ desk: narrow, loaded }} />
        ) : (
          <Desk desk={narrow} loaded={loaded} />
        )}
      </main>
      {fiber !== null && shown !== 'screen' && (
        <Boundary what="The fiber">
          <Late of={FIBER_SHEET} with={{ fiber, origin }} takes_keys />
        </Boundary>
      )}
      <Late of={GESTURES} with={{}} meanwhile={null} takes_keys={gesturing} />
      {fiber !== null && shown === 'screen' && <Late of={SCREEN} with={{ fiber, origin }} takes_keys />}
      {phone && <Late of={RECORDING} with={{}} meanwhile={null} />}
      <Toasts />
      {phone && <Late of={PHONE_NAV} with={{}} meanwhile={null} />}
      {(sheet === 'stash' || sheet === 'capture') && (
        <Late key={sheet} of={TASK_FORM} with={{ kind: sheet }} takes_keys />
      )}
      {sheet === 'find' && <Late of={FINDER} with={{}} takes_keys />}
      {sheet === 'meeting' && <Late of={MEETING} with={{}} takes_keys />}
      {sheet === 'hosts' && <Late of={HOSTS} with={{}} takes_keys />}
      {sheet === 'keys' && <Late of={KEY_SHEET} with={{}} takes_keys />}
    </div>
  );
}
