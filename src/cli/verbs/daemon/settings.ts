import { SETTINGS, type Settings } from '../../../config/settings.ts';
import { formatTable, printJson } from '../../command-line/output.ts';
import { type CliContext, EXIT, type ExitCode } from '../../command-line/verb.ts';

/** Every setting as this environment gives it. */
export async function runSettings(
  context: CliContext,
  settings: Settings,
  options: { json?: boolean },
): Promise<ExitCode> {
  const rows = (Object.keys(SETTINGS) as (keyof typeof SETTINGS)[]).map((name) => ({
    env: SETTINGS[name].env,
    value: settings[name],
    default: SETTINGS[name].fallback,
    meaning: SETTINGS[name].meaning,
  }));
  if (options.json) printJson(context, rows);
  else
    context.out(
      formatTable(
        ['variable', 'value', 'default', 'meaning'],
        rows.map((row) => [row.env, textOf(row.value), textOf(row.default), row.meaning]),
      ),
    );
  return EXIT.ok;
}

function textOf(value: unknown): string {
  if (value === null || (Array.isArray(value) && value.length === 0)) return '-';
  return Array.isArray(value) ? value.join(',') : String(value);
}
