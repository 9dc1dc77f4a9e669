import { memo, type ReactNode, useCallback, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { useDarkScheme, usePhone } from '../lib/media.ts';
import { filledLines } from '../model/screen.ts';
import { coloursOf, PALETTES, type Palette } from '../model/terminal-colours.ts';
import type { TerminalRun } from '../model/wire.ts';
import { timeOfDay } from '../model/wording.ts';
import { Button } from '../ui/Button.tsx';
import styles from './WorkerScreen.module.css';
import { useScreen, type Watched } from './watch-screen.ts';

/** Pixels from the end within which a reader is taken to be at it. */
const NEAR_END = 24;

/** A line that is only drawn says nothing more on a second one. */
const RULE = /^[\s\u2500-\u257f]*$/;

type WorkerOf = { session: string; origin: string | null };

/** The screen of a running worker as text of the page: it is only read, and the worker knows nothing of it. */
export function WorkerScreen({ session, origin }: WorkerOf): ReactNode {
  const watched = useScreen(session, origin);
  const { screen } = watched;
  const palette = PALETTES[useDarkScheme() ? 'dark' : 'light'];
  const phone = usePhone();
  const [wrapping, setWrapping] = useState<boolean | null>(null);
  const wraps = wrapping ?? phone;
  const { area, follows, onScroll, follow } = useFollowing(watched, wraps);
  const count = filledLines(screen);
  const lines = screen.lines.slice(0, count);
  return (
    <div className={styles.screen}>
      <div className={styles.bar}>
        <Standing watched={watched} />
        <Button tone="quiet" aria-pressed={wraps} onClick={() => setWrapping(!wraps)}>
          Wrap lines
        </Button>
      </div>
      <div className={styles.frame}>
        {/* biome-ignore lint/a11y/useSemanticElements: a section that scrolls is a region that takes the focus. */}
        <div
          ref={area}
          className={styles.area}
          role="region"
          aria-label="Screen of the worker"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled with the keyboard.
          tabIndex={0}
          data-wraps={wraps}
          style={{ background: palette.ground, color: palette.ink }}
          onScroll={onScroll}
        >
          <div className={styles.lines}>
            {count === 0 && watched.state.kind === 'live' && <p>The screen is blank.</p>}
            {lines.map((runs, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: this is the number of the line, which it keeps.
              <Line key={screen.first + index} runs={runs} palette={palette} />
            ))}
          </div>
        </div>
        {!follows && (
          <div className={styles.follow}>
            <Button onClick={follow}>Newest lines</Button>
          </div>
        )}
      </div>
    </div>
  );
}

/** Whether what is shown is what the terminal shows now; a change of it is told to screen readers. */
function Standing({ watched: { screen, state } }: { watched: Watched }): ReactNode {
  const [kind, words] = standing(state, screen.stale, filledLines(screen) === 0);
  return (
    <p className={styles.standing} role="status" data-standing={kind}>
      <span className={styles.dot} aria-hidden="true" />
      {words}
    </p>
  );
}

function standing(
  state: Watched['state'],
  stale: string | null,
  empty: boolean,
): ['live' | 'stale' | 'lost' | 'over', string] {
  if (state.kind === 'over')
    return ['over', empty ? state.reason : `${state.reason} This is what it showed last.`];
  if (state.kind === 'lost') return ['lost', lostWords(state)];
  if (state.kind === 'connecting') return ['stale', 'Opening the screen …'];
  if (stale !== null) return ['stale', stale];
  return ['live', empty ? 'Live, read only: nothing is on the screen yet' : 'Live, read only'];
}

function lostWords({ since, reason }: Extract<Watched['state'], { kind: 'lost' }>): string {
  const at = timeOfDay(since);
  return reason === ''
    ? `No answer from the daemon since ${at}; trying again.`
    : `Lost at ${at}: ${reason.replace(/\.$/, '')}. Trying again.`;
}

/** Keeps the end in view, unless the reader has scrolled away from it. */
function useFollowing(watched: Watched, wraps: boolean) {
  const area = useRef<HTMLDivElement>(null);
  const [follows, setFollows] = useState(true);
  const toEnd = useCallback(() => {
    if (area.current !== null) area.current.scrollTop = area.current.scrollHeight;
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: after each change of what is shown.
  useLayoutEffect(() => {
    if (follows) toEnd();
  }, [follows, toEnd, watched.screen, wraps]);
  const onScroll = useCallback(() => {
    const { scrollTop = 0, scrollHeight = 0, clientHeight = 0 } = area.current ?? {};
    setFollows(scrollHeight - clientHeight - scrollTop < NEAR_END);
  }, []);
  const follow = useCallback(() => {
    setFollows(true);
    toEnd();
    area.current?.focus({ preventScroll: true });
  }, [toEnd]);
  return { area, follows, onScroll, follow };
}

type LineProps = { runs: readonly TerminalRun[]; palette: Palette };

const Line = memo(function Line({ runs, palette }: LineProps): ReactNode {
  const shown = useMemo(
    () =>
      runs.map((run, index) =>
        typeof run === 'string' ? (
          run
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: a run is its place in its line.
          <Run key={index} run={run} palette={palette} />
        ),
      ),
    [runs, palette],
  );
  const is_rule = runs.length > 0 && runs.every((run) => RULE.test(typeof run === 'string' ? run : run.text));
  return (
    <div className={is_rule ? `${styles.line} ${styles.rule}` : styles.line}>
      {shown.length === 0 ? <br /> : shown}
    </div>
  );
});

function Run({ run, palette }: { run: Exclude<TerminalRun, string>; palette: Palette }): ReactNode {
  const { text, ground } = coloursOf(run, palette);
  const classes = (['bold', 'italic', 'underline', 'strike', 'hidden'] as const)
    .filter((name) => run[name] === true)
    .map((name) => styles[name]);
  return (
    <span
      className={classes.join(' ') || undefined}
      style={{ color: text ?? undefined, background: ground ?? undefined }}
    >
      {run.text}
    </span>
  );
}
