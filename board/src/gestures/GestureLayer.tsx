import { type ReactNode, useEffect } from 'react';
import { useFollowed } from '../lib/board.ts';
import { Late, loadWhenIdle, part } from '../lib/parts.tsx';
import { useDragged } from './dragged.ts';
import { close, gesturesAt, type Open, useOpen } from './gestures.ts';
import { useCardKeys } from './use-card-keys.ts';

const CARD_MENU = part(() => import('./CardMenu.tsx'), close);
const CONFIRM = part(() => import('./ConfirmDialog.tsx'), close);
const HELD = part(() => import('./HeldDialog.tsx'), close);
const LAUNCH = part(() => import('./LaunchDialog.tsx'), close);
const NEST = part(() => import('./NestDialog.tsx'), close);
const SHAPE = part(() => import('./ShapeDialog.tsx'), close);

const DROP_TRAY = part(() => import('./DropTray.tsx'));

/** The keys of the focused card, the menus and dialogs that they open, and where a dragged card can be dropped. */
export function GestureLayer(): ReactNode {
  const open = useOpen();
  useCardKeys();
  useEffect(() => {
    // A menu that is opened while the daemon is gone still says what cannot be done, and why.
    loadWhenIdle([CARD_MENU, CONFIRM, LAUNCH, DROP_TRAY]);
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
  if (open.kind === 'held') return <Late key="held" of={HELD} with={{}} />;
  const { row_key } = open;
  if (open.kind === 'menu') {
    const { part } = open;
    return <Late key={`${row_key} ${part}`} of={CARD_MENU} with={{ row_key, part }} />;
  }
  const { id } = open;
  if (open.kind === 'confirm') return <Late key={`${row_key} ${id}`} of={CONFIRM} with={{ row_key, id }} />;
  const gesture = gesturesAt(row_key).find((one) => one.id === id);
  if (gesture === undefined) return null;
  const { form } = open;
  const key = `${row_key} ${form}`;
  if (form === 'launch') return <Late key={key} of={LAUNCH} with={{ row_key, gesture }} />;
  if (form === 'nest') return <Late key={key} of={NEST} with={{ row_key, gesture }} />;
  return <Late key={key} of={SHAPE} with={{ row_key, gesture, form }} />;
}
