import type { Command } from 'commander';
import { readSettings, type Settings } from '../../config/settings.ts';
import { wholeNumber } from '../command-line/options.ts';
import { DRY_RUN } from '../command-line/rehearsal.ts';
import type { CliContext, ExitCode, Verb } from '../command-line/verb.ts';
import { runLogs } from './daemon/logs.ts';
import { runRelease } from './daemon/release.ts';
import { runRestart } from './daemon/restart.ts';
import { runForeground } from './daemon/run.ts';
import { runSettings } from './daemon/settings.ts';
import { runStart } from './daemon/start.ts';
import { runStatus } from './daemon/status.ts';
import { runStop } from './daemon/stop.ts';

/** `svc daemon …`: the life of the daemon on this machine (design: settings). */
export const verb: Verb = {
  name: 'daemon',
  summary: 'Run, start, stop and inspect the daemon',
  register(command, context, exit) {
    const settings = () => readSettings(context.env);
    command.usage('<run|start|stop|restart|status|logs|release|settings> [options]');

    command
      .command('run')
      .description('Run the daemon in this terminal until it is told to stop')
      .action(async () => exit(await runForeground(context, settings())));

    withWait(
      command.command('start').description('Start the daemon in the background and wait until it is ready'),
      'how long it may be silent before it is',
    ).action(async (options: StartOptions) => exit(await runStart(context, settings(), options)));

    withWait(
      command.command('stop').description('Stop the daemon; workers keep running'),
      'how long to wait for its end',
    ).action(async (options: StartOptions) => exit(await runStop(context, settings(), options)));

    withWait(
      command.command('restart').description('Stop the daemon and start it again'),
      'how long to wait for its end, and then for a word of the new one',
    ).action(async (options: StartOptions) => exit(await runRestart(context, settings(), options)));

    leaf(
      command,
      'status',
      'Say whether the daemon runs (exit 3 when it does not)',
      context,
      exit,
      runStatus,
    );

    command
      .command('logs')
      .description('Show the log of the daemon that was started in the background')
      .option('-f, --follow', 'keep showing new lines until interrupted')
      .option('-n, --lines <count>', 'how many lines to show first', wholeNumber, 50)
      .option('--json', 'show the lines as they were written')
      .action(async (options: { follow?: boolean; lines: number; json?: boolean }) =>
        exit(await runLogs(context, settings(), options)),
      );

    command
      .command('release')
      .description('Let the launches that a restart holds back begin (WPL-25)')
      .option(...DRY_RUN)
      .option('--json', 'answer as JSON')
      .action(async (options: { dryRun?: boolean; json?: boolean }) =>
        exit(await runRelease(context, settings(), options)),
      );

    leaf(command, 'settings', 'List every setting, its value and its meaning', context, exit, runSettings);
  },
};

type StartOptions = { timeout: number; json?: boolean };

function withWait(command: Command, wait: string): Command {
  return command.option('--timeout <seconds>', wait, wholeNumber, 30).option('--json', 'answer as JSON');
}

function leaf(
  command: Command,
  name: string,
  description: string,
  context: CliContext,
  exit: (code: ExitCode) => void,
  run: (context: CliContext, settings: Settings, options: { json?: boolean }) => Promise<ExitCode>,
): void {
  command
    .command(name)
    .description(description)
    .option('--json', 'answer as JSON')
    .action(async (options: { json?: boolean }) =>
      exit(await run(context, readSettings(context.env), options)),
    );
}
