/** A program that a service manager keeps running, always, and starts again whenever it ends. */
export type ServiceJob = {
  /** Letters, digits, dots, dashes and underscores. */
  name: string;
  description: string;
  /** Absolute path of the program, then its arguments; none has a control character. */
  argv: readonly string[];
  /** A private folder that it needs, which may be gone after a restart of the machine; null for none. */
  folder: string | null;
  /** Its PATH. */
  path: string;
};

/** Seconds between two starts. */
const PAUSE_S = 5;
/** Files and folders that it makes are its user's alone. */
const UMASK = 0o077;

/**
 * The text of a systemd unit for a user's manager. It never gives up: with the default limit of starts, a host that is
 * away for a minute would never be tried again.
 */
export function systemdUnit(job: ServiceJob): string {
  const { description, argv, folder, path } = job;
  const words = (list: readonly string[]) => list.map(systemdWord).join(' ');
  return [
    '# Made by svc; a later install overwrites it.',
    '[Unit]',
    `Description=${description.replaceAll('%', '%%')}`,
    'StartLimitIntervalSec=0',
    '',
    '[Service]',
    `Environment=${systemdWord(`PATH=${path}`)}`,
    `UMask=0${UMASK.toString(8).padStart(3, '0')}`,
    ...(folder === null ? [] : [`ExecStartPre=${words(['/bin/mkdir', '-p', '--', folder])}`]),
    `ExecStart=${words(argv)}`,
    'Restart=always',
    `RestartSec=${PAUSE_S}`,
    '',
    '[Install]',
    'WantedBy=default.target',
    '',
  ].join('\n');
}

/** One argument of a command line of systemd: it expands `%` and `$`, and reads backslashes inside quotes. */
function systemdWord(word: string): string {
  if (/^[\w@:,./+=-]+$/.test(word)) return word;
  const escaped = word
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('%', '%%')
    .replaceAll('$', '$$$$');
  return `"${escaped}"`;
}

/** The text of a launchd job for a user's session; `log` is where it prints. */
export function launchdPlist(job: ServiceJob, log: string): string {
  const { name, argv, folder, path } = job;
  // launchd makes no folder before a start. The words are parameters of this shell, which reads none of them.
  const made = ['/bin/sh', '-c', 'mkdir -p -- "$0" && exec "$@"'];
  const words = folder === null ? argv : [...made, folder, ...argv];
  const text = (value: string) => `<string>${xmlText(value)}</string>`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!-- Made by svc; a later install overwrites it. -->',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    '<plist version="1.0">',
    '<dict>',
    `  <key>Label</key>${text(name)}`,
    '  <key>ProgramArguments</key>',
    '  <array>',
    ...words.map((word) => `    ${text(word)}`),
    '  </array>',
    `  <key>EnvironmentVariables</key><dict><key>PATH</key>${text(path)}</dict>`,
    `  <key>Umask</key><integer>${UMASK}</integer>`,
    '  <key>RunAtLoad</key><true/>',
    '  <key>KeepAlive</key><true/>',
    `  <key>ThrottleInterval</key><integer>${PAUSE_S}</integer>`,
    `  <key>StandardErrorPath</key>${text(log)}`,
    '</dict>',
    '</plist>',
    '',
  ].join('\n');
}

function xmlText(value: string): string {
  return value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
