import { type ReactNode, useMemo } from 'react';
import { shelfItems } from '../model/list-views.ts';
import type { DeskProps } from './Desk.tsx';
import { OneList } from './OneList.tsx';

/** What rests, with all that its cards tell. */
export default function Shelf({ desk, loaded }: DeskProps): ReactNode {
  const items = useMemo(() => (loaded ? shelfItems(desk) : null), [desk, loaded]);
  return <OneList items={items} />;
}
