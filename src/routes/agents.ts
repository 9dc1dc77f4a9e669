import { agentEffortReplySchema, agentEffortSchema, agentsReplySchema } from '../contract/agent.ts';
import { originQuerySchema } from '../contract/http/origin.ts';
import { rehearsalSchema } from '../contract/http/rehearsal.ts';
import { pollerCalls } from '../contract/threads/poller.ts';
import { defineRow, type Row } from '../http/row.ts';
import type { Callers } from './callers.ts';

/** The effective agent registry and the tools as this daemon sees them (RPL-5, WPL-17). */
export function agentsRows({ poller }: Pick<Callers, 'poller'>): Row[] {
  return [
    defineRow({
      method: 'GET',
      path: '/api/v1/agents',
      summary: 'The agents that can work on fibers; values of `env` are hidden',
      routing: 'host',
      state: 'ready',
      query: originQuerySchema,
      body_limit: 0,
      shared: true,
      replies: { 200: agentsReplySchema },
      async handler() {
        return { status: 200, json: await poller.call('agents', {}) };
      },
    }),
    defineRow({
      method: 'POST',
      path: '/api/v1/agents/effort',
      summary: 'Sets the default effort of an agent; null lets it have its own again',
      example: { body: { id: 'claude-sonnet', effort: 'high' } },
      routing: 'host',
      state: 'ready',
      body: agentEffortSchema,
      body_limit: 64 * 1024,
      replies: { 200: agentEffortReplySchema.or(rehearsalSchema) },
      async handler({ body }) {
        return { status: 200, json: await poller.call('agent_effort', body) };
      },
    }),
    defineRow({
      method: 'GET',
      path: '/api/v1/doctor',
      summary: 'The tools a worker needs, as the daemon finds them',
      routing: 'local',
      state: 'ready',
      body_limit: 0,
      shared: true,
      replies: { 200: pollerCalls.tools.output },
      async handler() {
        return { status: 200, json: await poller.call('tools', {}) };
      },
    }),
  ];
}
