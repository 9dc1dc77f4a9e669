import { type ReactNode, useEffect, useMemo, useState } from 'react';
import { Desk } from '../desk/Desk.tsx';
import { PhoneDesk } from '../desk/PhoneDesk.tsx';
import { useFollowed } from '../lib/board.ts';
import { useToday } from '../lib/clock.ts';
import { usePhone } from '../lib/media.ts';
import { CardCache, deskOf, EMPTY_DESK } from '../model/desk.ts';
import { Banners } from './Banners.tsx';
import styles from './Shell.module.css';
import { TopBar } from './TopBar.tsx';

export function Shell(): ReactNode {
  const followed = useFollowed();
  const today = useToday();
  const phone = usePhone();
  const [cache] = useState(() => new CardCache());
  const { copy } = followed;
  const desk = useMemo(() => (copy === null ? EMPTY_DESK : deskOf(copy, today, cache)), [copy, today, cache]);
  const asking = desk.needs_you.length;
  useEffect(() => {
    const title = copy === null ? 'Desk' : `Desk, ${copy.host}`;
    document.title = asking === 0 ? title : `(${asking}) ${title}`;
  }, [copy, asking]);
  const View = phone ? PhoneDesk : Desk;
  return (
    <div className={styles.shell}>
      <TopBar followed={followed} />
      <Banners followed={followed} held={desk.held_since_restart} />
      <main className={styles.main} aria-labelledby="view">
        <View desk={desk} loaded={copy !== null} />
      </main>
    </div>
  );
}
