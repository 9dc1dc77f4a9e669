import type { ReactNode } from 'react';
import { useTimeText, useToday } from '../lib/clock.ts';
import { usePhone } from '../lib/media.ts';
import { sessionsPath } from '../lib/paths.ts';
import { useComposite, useRead } from '../lib/reads.ts';
import { linesOf, pastSessions, type Sessions } from '../model/sessions.ts';
import type { FiberRow, Why } from '../model/wire.ts';
import { comingMoment, contextText, fullMoment, lasting } from '../model/wording.ts';
import { Path } from '../ui/Sentence.tsx';
import { Command } from './Command.tsx';
import { OpenTerminal } from './OpenTerminal.tsx';
import { useOrigin } from './origin.ts';
import { Facts, Part } from './Part.tsx';
import { whyPath } from './WhyPart.tsx';

const KINDS = { oneshot: 'one shot', standing: 'standing', pinned: 'pinned' } as const;
const SURFACES = { cli: 'terminal', app: 'app conversation' } as const;

/** The worker that runs, and how the fiber is set up. */
export function RunPart({ row }: { row: FiberRow }): ReactNode {
  const today = useToday();
  const phone = usePhone();
  const { runtime, svc, uid } = row;
  const { value } = useComposite<Sessions>(uid === null ? null : sessionsPath(uid));
  const session = pastSessions(linesOf(value)).find((one) => one.session === runtime?.session_uuid);
  const origin = useOrigin();
  const why = useRead<Why>(row.next_due_at === undefined ? null : whyPath(row, origin));
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
    if (runtime.context != null) rows.push(['Context', contextText(runtime.context)]);
  }
  if (svc !== undefined) rows.push(['Kind', kind.filter((one) => one !== null).join(', ')]);
  if (svc?.schedule !== undefined)
    rows.push(['Schedule', `${svc.schedule}${svc.tz === undefined ? '' : `, ${svc.tz}`}`]);
  if (row.next_due_at !== undefined) rows.push(['Next', comingMoment(row.next_due_at, today)]);
  const later = why.value?.next_occurrences?.filter((at) => at > (row.next_due_at ?? at)) ?? [];
  if (later.length > 0) rows.push(['Then', later.map((at) => comingMoment(at, today)).join(', ')]);
  if (row.horizon === 'stashed')
    rows.push(['Rests', row.due === undefined ? 'without a date' : `until ${row.due}`]);
  if (svc?.auto_accept) rows.push(['Verdict', 'accepted by itself after a good run']);
  const sharers = row.shares_folder_with?.join(', ');
  if (folder !== undefined)
    rows.push([
      'Folder',
      <Path key="">{sharers === undefined ? folder : `${folder}, shared with ${sharers}`}</Path>,
    ]);
  if (svc?.worktree_of !== undefined) rows.push(['Branch', svc.worktree]);
  if (runtime?.session_uuid != null) rows.push(['Session', runtime.session_uuid]);
  if (rows.length === 0) return null;
  return (
    <Part title={runtime === undefined ? 'Set-up' : 'This run'}>
      <Facts rows={rows} />
      {runtime?.mux_session != null && !phone && (
        <>
          <Command text={`svc attach ${row.id}${origin === null ? '' : ` --host ${origin}`}`} />
          <OpenTerminal asked={{ mux_session: runtime.mux_session }}>Open its terminal</OpenTerminal>
        </>
      )}
    </Part>
  );
}
