import { type ReactNode, useEffect } from 'react';
import { useFollowed } from '../lib/board.ts';
import { Late, loadWhenIdle, part } from '../lib/parts.tsx';
import { aimAt } from '../model/aim.ts';
import { useDragged } from './dragged.ts';
import { close, gesturesAt, loadGestures, type Open, useOpen } from './gestures.ts';
import { shownRow } from './writes.ts';

const CARD_MENU = part(() => import('./CardMenu.tsx'), close);
const BULK = part(() => import('./BulkDialog.tsx'), close);
const CONFIRM = part(() => import('./ConfirmDialog.tsx'), close);
const HELD = part(() => import('./HeldDialog.tsx'), close);
const LAUNCH = part(() => import('./LaunchDialog.tsx'), close);
const NEST = part(() => import('./NestDialog.tsx'), close);
const SHAPE = part(() => import('./ShapeDialog.tsx'), close);

const DROP_TRAY = part(() => import('./DropTray.tsx'));

/** The menus and dialogs that gestures open, and where a dragged card can be dropped. */
export default function GestureLayer(): ReactNode {
  const open = useOpen();
  useEffect(() => {
    // A menu that is opened while the daemon is gone still says what cannot be done, and why.
    loadWhenIdle([{ load: loadGestures }, CARD_MENU, CONFIRM, LAUNCH, DROP_TRAY, SHAPE, NEST, HELD]);
  }, []);
  return (
    <>
      <Tray />
      {open !== null && <OpenView open={open} />}
    </>
  );
}

function Tray(): ReactNode {
  const dragged = useDragged();
  return dragged === null ? null : <Late of={DROP_TRAY} with={{ dragged }} meanwhile={null} />;
}

function OpenView({ open }: { open: Open }): ReactNode {
  // What can be done changes with the feed.
  useFollowed();
  if (open.kind === 'held') return <Late key="held" of={HELD} with={{}} takes_keys />;
  if (open.kind === 'bulk') {
    const { aims, id } = open;
    return <Late key={`bulk ${id}`} of={BULK} with={{ aims, id }} takes_keys />;
  }
  const { aim } = open;
  const { row_key } = aim;
  if (open.kind === 'menu') {
    const { part } = open;
    return <Late key={`${row_key} ${part}`} of={CARD_MENU} with={{ aim, part }} takes_keys />;
  }
  const { id } = open;
  if (open.kind === 'confirm')
    return <Late key={`${row_key} ${id}`} of={CONFIRM} with={{ aim, id }} takes_keys />;
  const row = shownRow(row_key);
  const gesture = gesturesAt(row_key).find((one) => one.id === id);
  if (row === undefined || gesture === undefined) return null;
  const { form } = open;
  const key = `${row_key} ${form}`;
  // A form shows what the fiber is by now.
  const seen = { aim: aimAt(row), gesture };
  if (form === 'launch') return <Late key={key} of={LAUNCH} with={seen} takes_keys />;
  if (form === 'nest') return <Late key={key} of={NEST} with={seen} takes_keys />;
  return <Late key={key} of={SHAPE} with={{ ...seen, form }} takes_keys />;
}
