/** A verb to run against the demo: `svc demo [--dir <dir>] <verb> …`. */
export type DemoCall = { dir: string | undefined; argv: readonly string[] };

/** Parses such a command line; null for any other. */
export function readDemoCall(argv: readonly string[]): DemoCall | null {
  if (argv[0] !== 'demo') return null;
  const named = /^--dir=(.+)$/s.exec(argv[1] ?? '')?.[1];
  const dir = argv[1] === '--dir' ? argv[2] : named;
  const rest = argv.slice(dir === undefined ? 1 : named === undefined ? 3 : 2);
  const verb = rest[0];
  return verb === undefined || verb.startsWith('-') ? null : { dir, argv: rest };
}
