import { type ReactNode, useEffect } from 'react';
import { useFollowed } from '../lib/board.ts';
import { Late, loadWhenIdle, part } from '../lib/parts.tsx';
import { DropTray } from './DropTray.tsx';
import { close, gesturesAt, type Open, useOpen } from './gestures.ts';
import { useCardKeys } from './use-card-keys.ts';

const CARD_MENU = part(() => import('./CardMenu.tsx'), close);
const CONFIRM = part(() => import('./ConfirmDialog.tsx'), close);
const HELD = part(() => import('./HeldDialog.tsx'), close);
const LAUNCH = part(() => import('./LaunchDialog.tsx'), close);
const NEST = part(() => import('./NestDialog.tsx'), close);
const SHAPE = part(() => import('./ShapeDialog.tsx'), close);

/** The keys of the focused card, the menus and dialogs that they open, and where a dragged card can be dropped. */
export function GestureLayer(): ReactNode {
  const open = useOpen();
  useCardKeys();
  useEffect(() => {
    // A menu that is opened while the daemon is gone still says what cannot be done, and why.
    loadWhenIdle([CARD_MENU, CONFIRM, LAUNCH]);
  }, []);
  return (
    <>
      <DropTray />
      {open !== null && <OpenView open={open} />}
    </>
  );
}

function OpenView({ open }: { open: Open }): ReactNode {
  // What can be done changes with the feed.
  useFollowed();
  if (open.kind === 'held') return <Late key="held" of={HELD} with={{}} />;
  const { path } = open;
  if (open.kind === 'menu') {
    const { part } = open;
    return <Late key={`${path} ${part}`} of={CARD_MENU} with={{ path, part }} />;
  }
  const { id } = open;
  if (open.kind === 'confirm') return <Late key={`${path} ${id}`} of={CONFIRM} with={{ path, id }} />;
  const gesture = gesturesAt(path).find((one) => one.id === id);
  if (gesture === undefined) return null;
  const { form } = open;
  const key = `${path} ${form}`;
  if (form === 'launch') return <Late key={key} of={LAUNCH} with={{ path, gesture }} />;
  if (form === 'nest') return <Late key={key} of={NEST} with={{ path, gesture }} />;
  return <Late key={key} of={SHAPE} with={{ path, gesture, form }} />;
}
