import { type ReactNode, useState } from 'react';
import { post } from '../lib/api.ts';
import { parseRoster, printRoster } from '../model/roster.ts';
import { referenceOf } from '../model/sheet.ts';
import type { FiberRow } from '../model/wire.ts';
import { Button } from '../ui/Button.tsx';
import { Field } from '../ui/Field.tsx';
import { toHost, useOrigin } from './origin.ts';
import styles from './RosterPart.module.css';

/** The roster as lines to edit. */
export default function RosterEditor({ row, onDone }: { row: FiberRow; onDone(): void }): ReactNode {
  const [text, setText] = useState(() => printRoster(row.collaboration));
  const [fault, setFault] = useState<string | null>(null);
  const [saving, setSaving] = useState(false);
  const origin = useOrigin();
  const save = async () => {
    const parsed = parseRoster(text);
    if ('fault' in parsed) {
      setFault(parsed.fault);
      return;
    }
    setSaving(true);
    const answer = await post('/fiber-edit', {
      fiber_id: referenceOf(row),
      collaboration: parsed.roster,
      ...toHost(origin),
    });
    setSaving(false);
    if (answer.ok) onDone();
    else setFault(answer.message);
  };
  return (
    <form
      className={styles.editor}
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <Field
        label="A role in each line"
        hint="Such as “reviewer: birch, oak”, or a role alone."
        error={fault}
      >
        {(input) => (
          <textarea
            {...input}
            // biome-ignore lint/a11y/noAutofocus: it was asked for a moment ago.
            autoFocus
            rows={4}
            value={text}
            readOnly={saving}
            onChange={({ target }) => setText(target.value)}
          />
        )}
      </Field>
      <div className={styles.buttons}>
        <Button type="submit" disabled={saving}>
          Save
        </Button>
        <Button tone="quiet" onClick={onDone}>
          Cancel
        </Button>
      </div>
    </form>
  );
}
