import { agentEffortReplySchema, agentEffortSchema } from '../contract/agent.ts';
import { originQuerySchema } from '../contract/http/origin.ts';
import { rehearsalSchema } from '../contract/http/rehearsal.ts';
import { pollerCalls } from '../contract/threads/poller.ts';
import { defineRow, type Row } from '../http/row.ts';
import type { Callers } from './callers.ts';
import type { RouteContext } from './context.ts';
import { requireThisHost } from './origin.ts';
import { rehearse } from './rehearsal.ts';

/** The effective agent registry and the tools as this daemon sees them (RPL-5, WPL-17). */
export function agentsRows(callers: Pick<Callers, 'poller'>, context: RouteContext): Row[] {
  const { poller } = callers;
  return [
    defineRow({
      method: 'GET',
      path: '/api/v1/agents',
      who: 'operator',
      state: 'ready',
      query: originQuerySchema,
      body_limit: 0,
      replies: { 200: pollerCalls.agents.output },
      async handler({ query }) {
        requireThisHost(query.origin, context.host);
        return { status: 200, json: await poller.call('agents', {}) };
      },
    }),
    defineRow({
      method: 'POST',
      path: '/api/v1/agents/effort',
      who: 'operator',
      state: 'ready',
      body: agentEffortSchema,
      body_limit: 64 * 1024,
      replies: { 200: agentEffortReplySchema.or(rehearsalSchema) },
      async handler({ body }) {
        requireThisHost(body.origin, context.host);
        if (body.dry_run === true) return rehearse(poller, { write: 'agent_effort', request: body });
        return { status: 200, json: await poller.call('agent_effort', body) };
      },
    }),
    defineRow({
      method: 'GET',
      path: '/api/v1/doctor',
      who: 'operator',
      state: 'ready',
      body_limit: 0,
      replies: { 200: pollerCalls.tools.output },
      async handler() {
        return { status: 200, json: await poller.call('tools', {}) };
      },
    }),
  ];
}
