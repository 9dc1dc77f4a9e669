import { type ReactNode, useMemo, useState } from 'react';
import { useToday } from '../lib/clock.ts';
import { useWhere } from '../lib/url.ts';
import { CardCache } from '../model/desk.ts';
import { filterOf } from '../model/desk-filter.ts';
import type { FeedCopy } from '../model/feed-copy.ts';
import { chronicleItems } from '../model/list-views.ts';
import { OneList } from './OneList.tsx';

/** What was closed on which day, and how it was judged. */
export default function Chronicle({ copy }: { copy: FeedCopy | null }): ReactNode {
  const today = useToday();
  const { filter } = useWhere();
  const [cache] = useState(() => new CardCache());
  const items = useMemo(
    () => (copy === null ? null : chronicleItems(copy, today, cache, filterOf(filter ?? '') ?? (() => true))),
    [copy, today, cache, filter],
  );
  return <OneList items={items} />;
}
