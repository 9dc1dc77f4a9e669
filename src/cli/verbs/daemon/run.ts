import { readSettings, type Settings } from '../../../config/settings.ts';
import { type CliContext, defineVerb, EXIT, type ExitCode } from '../../command-line/verb.ts';

/** Limit of request headers in bytes; they include the cookies of every local port. */
const MOST_HEADER_BYTES = '65536';

export const verb = defineVerb({
  summary: 'Run the daemon in this terminal until it is told to stop',
  examples: [['svc daemon run', 'for systemd, launchd or a terminal of its own']],
  page: 'daemon.md',
  no_json: 'it runs until it is told to stop and writes a log',
  run: (context) => runForeground(context, readSettings(context.env)),
});

/** Runs the daemon in this process until a signal stops it; `onListening` receives its addresses. */
export async function runForeground(
  context: CliContext,
  settings: Settings,
  onListening: (listen: readonly string[]) => void = () => {},
): Promise<ExitCode> {
  // The native module reads this once, when it is loaded.
  process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= MOST_HEADER_BYTES;
  const { runDaemon } = await import('../../../daemon.ts');
  const code = await runDaemon({ settings, clock: context.clock, say: context.err, onListening });
  return code === 0 ? EXIT.ok : EXIT.refused;
}
