import { type ReactNode, useState } from 'react';
import { post } from '../lib/api.ts';
import type { FolderChoice } from '../model/wire.ts';
import { Button } from '../ui/Button.tsx';
import { Field } from '../ui/Field.tsx';
import styles from './Forms.module.css';

/** A person may take minutes to choose a folder. */
const CHOOSE_MS = 330_000;

type FolderFieldProps = { value: string; host: string | undefined; onChange(folder: string): void };

/** The folder that a worker is started in, by its path or in the folder dialog of the host where that has one. */
export function FolderField({ value, host, onChange }: FolderFieldProps): ReactNode {
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const choose = async () => {
    setBusy(true);
    const body = { title: 'Where shall it work?', ...(host === undefined ? {} : { origin: host }) };
    const answer = await post<FolderChoice>('/choose-folder', body, { timeout_ms: CHOOSE_MS });
    setBusy(false);
    if (!answer.ok) setError(answer.message);
    else if (answer.value.ok) onChange(answer.value.path);
  };
  return (
    <Field label="Project folder" error={error} hint="As the host has it, such as ~/my-project.">
      {(input) => (
        <div className={styles.beside}>
          <input
            {...input}
            value={value}
            autoComplete="off"
            spellCheck={false}
            onChange={({ target }) => {
              setError(null);
              onChange(target.value);
            }}
          />
          <Button disabled={busy} onClick={() => void choose()}>
            Choose…
          </Button>
        </div>
      )}
    </Field>
  );
}
