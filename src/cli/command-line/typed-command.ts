import { readSettings } from '../../config/settings.ts';
import { svcOf } from './output.ts';
import type { CliContext } from './verb.ts';

/** The command that runs `svc` on the setup of this context. */
export function svcIn({ env }: Pick<CliContext, 'env'>): string {
  try {
    return svcOf(readSettings(env));
  } catch {
    // What is wrong with a setting is what is being told.
    return 'svc';
  }
}

/**
 * A sentence with the commands that it names as they have to be typed here: `svc demo resume x` where the daemon of the
 * demo, which knows only of `svc resume x`, has written it.
 */
export function asTyped(sentence: string, context: Pick<CliContext, 'env'>): string {
  const svc = svcIn(context);
  return svc === 'svc' ? sentence : sentence.replace(/\bsvc (?=[a-z])(?!demo\b)/g, `${svc} `);
}
