import { z } from 'zod';
import { readSettings, SETTINGS } from '../../../config/settings.ts';
import { formatTable } from '../../command-line/output.ts';
import { defineVerb } from '../../command-line/verb.ts';

/** `svc daemon settings`: every setting with its value in this environment. */
export const verb = defineVerb({
  summary: 'List every setting, its value and its meaning',
  examples: [['svc daemon settings', 'every SVC_ variable with its value and meaning']],
  page: 'daemon.md',
  json: z.array(z.object({ env: z.string(), value: z.unknown(), default: z.unknown(), meaning: z.string() })),
  run(context) {
    const settings = readSettings(context.env);
    const rows = (Object.keys(SETTINGS) as (keyof typeof SETTINGS)[]).map((name) => ({
      env: SETTINGS[name].env,
      value: settings[name],
      default: SETTINGS[name].fallback,
      meaning: SETTINGS[name].meaning,
    }));
    const text = formatTable(
      ['variable', 'value', 'default', 'meaning'],
      rows.map((row) => [row.env, textOf(row.value), textOf(row.default), row.meaning]),
      context.width,
    );
    return { json: rows, text };
  },
});

function textOf(value: unknown): string {
  if (value === null || (Array.isArray(value) && value.length === 0)) return '-';
  return Array.isArray(value) ? value.join(',') : String(value);
}
