import { lazy, type ReactNode, Suspense, useState } from 'react';
import { KeepKeys } from '../lib/parts.tsx';
import type { FiberRow } from '../model/wire.ts';
import { Button } from '../ui/Button.tsx';
import { Part } from './Part.tsx';

const RecordDialog = lazy(() => import('../meeting/RecordDialog.tsx'));

/** Leads to a meeting that joins the fiber. */
export default function RecordMeeting({ row }: { row: FiberRow }): ReactNode {
  const [open, setOpen] = useState(false);
  return (
    <Part title="Meeting">
      <Button size="small" onClick={() => setOpen(true)}>
        Record a meeting into this fiber
      </Button>
      {open && (
        <Suspense fallback={<KeepKeys />}>
          <RecordDialog fiber={row.id} title={row.name} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </Part>
  );
}
