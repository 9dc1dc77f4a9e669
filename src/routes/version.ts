import { type Version, versionSchema } from '../contract/http/version.ts';
import type { Reply } from '../http/reply.ts';
import { defineRow, type Row } from '../http/row.ts';
import { bootMs } from './booting.ts';
import type { RouteContext } from './context.ts';

/** `GET /version` (OPR-1, RPL-18): encoded once for each change, so that polling it costs next to nothing. */
export function versionRows(context: RouteContext): Row[] {
  let kept: Reply | null = null;
  context.onChanged(() => {
    kept = null;
  });
  const answer = (): Reply => {
    if (kept !== null) return kept;
    const reply = encode(describe(context));
    // While booting, `boot_ms` grows with every request.
    if (context.ready_ms() !== null) kept = reply;
    return reply;
  };
  return [
    defineRow({
      method: 'GET',
      path: '/api/v1/version',
      summary: 'The build, the host, what is bound, how peers are told apart, and the components',
      page: 'daemon.md',
      routing: 'local',
      state: 'always',
      body_limit: 0,
      shared: false,
      replies: { 200: versionSchema },
      handler: answer,
    }),
  ];
}

function encode(version: Version): Reply {
  return { status: 200, bytes: Buffer.from(JSON.stringify(version)), content_type: 'application/json' };
}

function describe(context: RouteContext): Version {
  return {
    version: context.version,
    git_short_sha: context.git_short_sha,
    booted_at: new Date(context.booted_at).toISOString(),
    ready: context.ready_ms() !== null,
    boot_ms: bootMs(context),
    host: context.host,
    host_class: context.host_class,
    pid: context.pid,
    node: context.node,
    listen: context.listen(),
    server: context.server(),
    peer_gate: context.peer_gate(),
    ...context.tailnet(),
    components: context.components(),
    generation: context.generation,
    skew: context.skew,
  };
}
