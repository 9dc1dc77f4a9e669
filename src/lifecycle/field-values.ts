import { requireDue, requireSchedule, requireZone } from '../fibers/field-values.ts';
import { type KnownAgents, requireAgent } from './agent-verbs.ts';

/**
 * Checks the values that a write of fields would set: `due`, and `schedule`, `tz` and `agent` of the service, as the
 * verbs check them. Throws `invalid_request` or `agent_unknown`. `known` is null where the agents of its host are not
 * known here.
 */
export function requireFieldValues(set: Readonly<Record<string, unknown>>, known: KnownAgents | null): void {
  const given = (key: string, check: (text: string) => unknown) => {
    const value = fieldOf(set, key);
    if (typeof value === 'string') check(value);
  };
  given('due', requireDue);
  given('svc.schedule', requireSchedule);
  given('svc.tz', requireZone);
  if (known !== null) given('svc.agent', (name) => requireAgent(known, name));
}

/** The value of a frontmatter path, which is set by itself or as part of a map. */
function fieldOf(set: Readonly<Record<string, unknown>>, path: string): unknown {
  if (Object.hasOwn(set, path)) return set[path];
  const [map = '', key = ''] = path.split('.');
  const block = set[map];
  return typeof block === 'object' && block !== null ? (block as Record<string, unknown>)[key] : undefined;
}
