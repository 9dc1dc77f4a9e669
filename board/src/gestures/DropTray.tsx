import { type ReactNode, useRef } from 'react';
import { useToday } from '../lib/clock.ts';
import type { Day } from '../model/days.ts';
import type { Gesture } from '../model/gestures.ts';
import { shortDay } from '../model/wording.ts';
import { Glyph } from '../ui/Glyph.tsx';
import styles from './Drag.module.css';
import { useDragBinding } from './drag-binding.ts';
import type { Dragged } from './dragged.ts';

/** Where a card can be dropped that leads to no column, at the bottom of the page while one is dragged. */
export default function DropTray({ dragged: { targets, over } }: { dragged: Dragged }): ReactNode {
  const rests = targets.filter(({ group }) => group === 'rest');
  const verdicts = ['set_aside', 'accept'].flatMap((id) => targets.find((one) => one.id === id) ?? []);
  const now = [...rests, ...verdicts].find(({ id }) => id === over);
  const words = now === undefined ? null : (now.refused ?? now.says);
  return (
    <div className={styles.tray} data-tray="">
      {words !== null && (
        <p className={styles.says} data-refused={now?.refused !== null}>
          {words}
        </p>
      )}
      <div className={styles.targets}>
        {rests.length > 0 && (
          <p className={styles.label}>
            <Glyph state="resting" />
            Rest until
          </p>
        )}
        {rests.map((gesture) => (
          <Target key={gesture.id} gesture={gesture} over={gesture.id === over} />
        ))}
        {rests.length > 0 && verdicts.length > 0 && <span className={styles.divider} />}
        {verdicts.map((gesture) => (
          <Target key={gesture.id} gesture={gesture} over={gesture.id === over} />
        ))}
      </div>
    </div>
  );
}

function Target({ gesture, over }: { gesture: Gesture; over: boolean }): ReactNode {
  const element = useRef<HTMLDivElement>(null);
  const today = useToday();
  const { id, name, refused } = gesture;
  useDragBinding(element, ({ bindTarget }, at) => bindTarget(at, id), id);
  return (
    <div
      ref={element}
      className={styles.target}
      data-gesture={id}
      data-over={over}
      data-refused={refused !== null}
    >
      <b>{name}</b>
      <span>{below(id, today)}</span>
    </div>
  );
}

function below(id: Gesture['id'], today: Day): string {
  if (id === 'accept') return 'work is done';
  if (id === 'set_aside') return 'ends the fiber';
  const day = id.slice('rest:'.length);
  return day === 'none' ? 'stays at rest' : shortDay(day, today);
}
