import { join } from 'node:path';
import { z } from 'zod';
import { CodedError, messageOf, systemCode } from '../../../base/errors.ts';
import { READ_LIMITS } from '../../../platform/read-limits.ts';
import { readRegularTextSync } from '../../../platform/regular-file.ts';
import { systemMend } from '../../command-line/system-mend.ts';

const receiptSchema = z.object({
  version: z.literal(1),
  /** Files that are entirely ours, by path below the harness's home, with the digest of the written content. */
  files: z.record(z.string(), z.string()),
  /** The original text of a changed user file, if removing our section does not restore it exactly. */
  before: z.record(z.string(), z.object({ digest: z.string(), text: z.string().nullable() })),
});
/** What a setup wrote in a harness's home, so that it can be removed exactly. */
export type Receipt = z.infer<typeof receiptSchema>;

export const RECEIPT_FILE = '.fiber-dispatch.json';

/** The receipt of a home; an empty one if there is none. Throws `invalid_config` if it cannot be read. */
export function readReceipt(home: string): Receipt {
  const path = join(home, RECEIPT_FILE);
  const text = readText(path);
  if (text === null) return { version: 1, files: {}, before: {} };
  try {
    return receiptSchema.parse(JSON.parse(text));
  } catch {
    throw new CodedError(
      'invalid_config',
      `${path} cannot be read, so it is unknown what the setup wrote; move it away and remove the skills by hand`,
      { details: { path } },
    );
  }
}

/** Null if the file does not exist. */
export function readText(path: string): string | null {
  try {
    return readRegularTextSync(path, READ_LIMITS.harness_config);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw new CodedError(
      'invalid_config',
      `${path} cannot be read (${systemCode(error) ?? messageOf(error)}); ${systemMend(error) ?? 'move it away'}`,
      {
        details: { path },
      },
    );
  }
}
