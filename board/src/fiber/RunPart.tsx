import { type ReactNode, useState } from 'react';
import { useTimeText, useToday } from '../lib/clock.ts';
import { usePhone } from '../lib/media.ts';
import { sessionsPath } from '../lib/paths.ts';
import { useComposite } from '../lib/reads.ts';
import { linesOf, pastSessions, type Sessions } from '../model/sessions.ts';
import type { FiberRow } from '../model/wire.ts';
import { comingMoment, fullMoment, lasting } from '../model/wording.ts';
import { Button } from '../ui/Button.tsx';
import { Facts, Part } from './Part.tsx';
import styles from './RunPart.module.css';

const KINDS = { oneshot: 'one shot', standing: 'standing', pinned: 'pinned' } as const;
const SURFACES = { cli: 'terminal', app: 'app conversation' } as const;

/** The worker that runs, and how the fiber is set up. */
export function RunPart({ row }: { row: FiberRow }): ReactNode {
  const today = useToday();
  const phone = usePhone();
  const { runtime, svc, uid } = row;
  const { value } = useComposite<Sessions>(uid === null ? null : sessionsPath(uid));
  const session = pastSessions(linesOf(value)).find((one) => one.session === runtime?.session_uuid);
  const active = useTimeText((now) =>
    runtime?.last_activity_at == null ? '' : `${lasting(now - runtime.last_activity_at)} ago`,
  );
  const kind = [
    svc?.kind === undefined ? null : KINDS[svc.kind],
    SURFACES[runtime?.surface ?? svc?.surface ?? 'cli'],
  ];
  const folder = row.project_dir ?? svc?.project_dir;
  const rows: [string, ReactNode][] = [];
  if (runtime !== undefined) {
    const resumed = session?.resumed_at == null ? '' : `, resumed ${fullMoment(session.resumed_at, today)}`;
    rows.push(['Started', `${fullMoment(session?.began_at ?? runtime.started_at, today)}${resumed}`]);
    if (active !== '') rows.push(['Active', active]);
    rows.push(['Agent', `${runtime.agent}, ${runtime.harness}`]);
  }
  if (svc !== undefined) rows.push(['Kind', kind.filter((one) => one !== null).join(', ')]);
  if (svc?.schedule !== undefined)
    rows.push(['Schedule', `${svc.schedule}${svc.tz === undefined ? '' : `, ${svc.tz}`}`]);
  if (row.next_due_at !== undefined) rows.push(['Next', comingMoment(row.next_due_at, today)]);
  if (row.due !== undefined) rows.push(['Due', row.due]);
  if (row.horizon === 'stashed')
    rows.push(['Rests', row.due === undefined ? 'without a date' : `until ${row.due}`]);
  if (svc?.auto_accept) rows.push(['Verdict', 'accepted by itself after a good run']);
  if (folder !== undefined) rows.push(['Folder', folder]);
  if (runtime?.session_uuid != null) rows.push(['Session', runtime.session_uuid]);
  if (rows.length === 0) return null;
  return (
    <Part title={runtime === undefined ? 'Set-up' : 'This run'}>
      <Facts rows={rows} />
      {runtime?.surface === 'cli' && !phone && <Command text={`svc attach ${row.id}`} />}
    </Part>
  );
}

/** A command for a terminal, to be copied. */
function Command({ text }: { text: string }): ReactNode {
  const [copied, setCopied] = useState(false);
  // A page over plain HTTP from another machine has no clipboard; the text can be selected as a whole.
  const { clipboard } = navigator as { clipboard?: Clipboard };
  return (
    <p className={styles.command}>
      <code>{text}</code>
      {clipboard !== undefined && (
        <Button
          tone="quiet"
          aria-label={`Copy ${text}`}
          onClick={() => {
            clipboard.writeText(text).then(
              () => setCopied(true),
              () => setCopied(false),
            );
          }}
        >
          {copied ? 'Copied' : 'Copy'}
        </Button>
      )}
    </p>
  );
}
