import { meetingIn } from './scribe.ts';

/** What a launch message says of a text that is to become a fiber. */
export type DemoCapture = {
  text: string;
  /** How the fiber is to be installed, by option; `store` among them. */
  install: Readonly<Record<string, string>>;
  /** `svc claim <fiber> …` without `svc`. */
  claim: readonly string[];
};

/** Longest name that is made of a text, in characters. */
const NAME_CHARS = 80;
const OPTIONS: Readonly<Record<string, string>> = {
  store: '--store',
  host: '--host',
  project_dir: '--project-dir',
  agent: '--agent',
  effort: '--effort',
};

/** Null for a message that names a fiber. */
export function captureIn(prompt: string): DemoCapture | null {
  // What the person wrote may look like a fact.
  const [facts = '', ...rest] = prompt.split('\nFrom User:\n');
  const text = rest.join('\nFrom User:\n').trim();
  if (!/^Capture: /m.test(facts) || text === '') return null;
  const install = /^Install: (.+)$/m.exec(facts)?.[1];
  const claim = /^Claim command: svc (.+)$/m.exec(facts)?.[1];
  if (install === undefined || claim === undefined) return null;
  const values = Object.entries(JSON.parse(install) as Record<string, unknown>);
  return {
    text,
    install: Object.fromEntries(
      values.filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    ),
    claim: claim.split(' '),
  };
}

/** Files, claims and installs a captured text as the skill tells a worker to; answers the id of its fiber. */
export async function fileCapture(
  { text, install, claim }: DemoCapture,
  svc: (args: string[], input?: string) => Promise<string>,
): Promise<string> {
  const first = meetingIn(text)?.title ?? text.split('\n')[0] ?? '';
  const store = install.store === undefined ? [] : ['--store', install.store];
  const added = await svc(
    ['fiber', 'add', first.trim().slice(0, NAME_CHARS), ...store, '--body', '-', '--json'],
    `${text}\n`,
  );
  const { fiber } = JSON.parse(added) as { fiber: { id: string } };
  await svc(claim.map((word) => (word === '<fiber>' ? fiber.id : word)));
  const options = Object.entries(install).flatMap(([key, value]) => {
    const option = OPTIONS[key];
    return option === undefined ? [] : [option, value];
  });
  await svc(['install', fiber.id, ...options]);
  return fiber.id;
}
