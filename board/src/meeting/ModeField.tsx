import type { ReactNode } from 'react';
import { MODE_WORDS } from '../model/meeting.ts';
import type { MeetingMode } from '../model/wire.ts';
import { Field } from '../ui/Field.tsx';

type ModeFieldProps = {
  label: string;
  modes: readonly MeetingMode[];
  value: MeetingMode | '';
  /** What is meant by no mode at all; null where one has to be chosen. */
  none: string | null;
  error: string | null;
  hint?: string | undefined;
  onChange(mode: MeetingMode | ''): void;
};

/** Whose microphone a meeting records, of those that this host can. */
export function ModeField({ label, modes, value, none, error, hint, onChange }: ModeFieldProps): ReactNode {
  return (
    <Field label={label} error={error} hint={hint}>
      {(input) => (
        <select
          {...input}
          value={value}
          onChange={({ target }) => onChange(modes.find((one) => one === target.value) ?? '')}
        >
          {none !== null && <option value="">{none}</option>}
          {modes.map((mode) => (
            <option key={mode} value={mode}>
              {MODE_WORDS[mode]}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
