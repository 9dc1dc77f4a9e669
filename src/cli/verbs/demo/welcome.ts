import { shellWord } from '../../../base/shell-word.ts';
import { boardAddress } from '../../daemon-client/board-address.ts';

/** What the welcome shows: the addresses of the daemon, and the command that runs `svc` here. */
export type WelcomeFacts = {
  listen: readonly string[];
  svc: string;
  dir: string | null;
  root: string;
  /** An earlier run finished the demo's fibers. */
  played_out: boolean;
};

/** The page for a new user when the demo's daemon listens: the address of the board, and three commands to paste. */
export function demoWelcome(facts: WelcomeFacts): string {
  const demo = `${facts.svc} demo${facts.dir === null ? '' : ` --dir ${shellWord(facts.dir)}`}`;
  const [first, second, third] = demoCommands(demo);
  const again = facts.played_out
    ? `Its fibers are done since an earlier run; for a fresh demo stop this, type ${demo} --remove, and start again.\n\n`
    : '';
  return `${boardLine(facts.listen, demo)}
Fiber Dispatch demo: eight fibers, an agent without a model, nothing of yours touched.

  Look      ${demo} status
  Files     ${facts.root}   (gone again with: ${demo} --remove)

${again}Put a task of your own on it, in another terminal in this folder (instead of the dot any folder of yours):

  ${first}
  ${second}
  ${third}

The demo's agent only plays at work and changes nothing there. With a real agent: README.md, “Your first real task”.
Ctrl-C stops the demo.
`;
}

/** The three commands; together they show the user's own fiber in the demo. */
export function demoCommands(demo: string): [string, string, string] {
  return [
    `${demo} fiber add "My first task" --body "What I want to have done."`,
    `${demo} install my-first-task --project-dir .`,
    `${demo} status my-first-task`,
  ];
}

/** The page when `npm start` runs the daemon on the configured stores. */
export function configuredWelcome(facts: {
  listen: readonly string[];
  svc: string;
  stores: readonly string[];
}): string {
  const { listen, svc, stores } = facts;
  return `${boardLine(listen, svc)}
Fiber Dispatch runs on ${stores.length === 1 ? 'the store' : 'the stores'} ${stores.join(', ')}

  Look                             ${svc} status
  Let held-back fibers start       ${svc} daemon release
  Add a task                       ${svc} fiber add "What to do" --store ${shellWord(stores[0] ?? '.')}

Ctrl-C stops the daemon; workers go on.
`;
}

/** Where the board is. Browsers cannot open a Unix socket, which a program can still ask. */
function boardLine(listen: readonly string[], svc: string): string {
  const board = boardAddress(listen);
  if (board !== null) return `Board: ${board}   (opened by: ${svc} open)\n`;
  const socket = (listen[0] ?? '').slice('unix:'.length);
  return `No board: it listens on a socket alone. curl --unix-socket ${shellWord(socket)} http://localhost/api/v1/fibers\n`;
}
