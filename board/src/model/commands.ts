import { fold, type Mark, marksIn } from './finder.ts';
import { VIEW_KEYS, VIEW_NAMES, VIEWS, type Where } from './where.ts';

/** Something that the finder does other than open a fiber: it goes to a place of the board. */
export type Command = { text: string; key: string | null; to: Partial<Where> };

const SHEET: Partial<Where> = { fiber: null, part: null };
const settings = (part: string): Partial<Where> => ({
  view: 'settings',
  part,
  fiber: null,
  sheet: null,
  day: null,
});

const COMMANDS: readonly Command[] = [
  { text: 'Stash a task', key: 's', to: { ...SHEET, sheet: 'stash' } },
  { text: 'Capture: give a text to a worker', key: 'c', to: { ...SHEET, sheet: 'capture' } },
  ...VIEWS.map((view) => ({
    text: `Go to ${VIEW_NAMES[view]}`,
    key: VIEW_KEYS[view],
    to: { view, fiber: null, sheet: null, day: null, part: null },
  })),
  { text: 'Hosts: how fresh each one is', key: 'g h', to: { ...SHEET, sheet: 'hosts' } },
  { text: 'Settings: health of the host', key: null, to: settings('health') },
  { text: 'Settings: agents', key: null, to: settings('agents') },
  { text: 'Settings: stores and projects', key: null, to: settings('stores') },
  { text: 'Settings: emergency brake', key: null, to: settings('brake') },
  { text: 'Settings: single keys', key: null, to: settings('keys') },
  ...['agents', 'stores', 'projects', 'remotes', 'host'].map((file) => ({
    text: `Edit ${file}.json`,
    key: null,
    to: settings(`file-${file}`),
  })),
  { text: 'Keys of the board', key: '?', to: { ...SHEET, sheet: 'keys' } },
];

/** The commands in which each typed word begins a word; the first few where nothing was typed. */
export function commandsFor(typed: string, most: number): { command: Command; marks: Mark[] }[] {
  const terms = fold(typed)
    .split(/\s+/)
    .filter((term) => term !== '');
  return COMMANDS.flatMap((command) => {
    const words = fold(command.text).split(/[^\p{L}\p{N}]+/u);
    if (!terms.every((term) => words.some((word) => word.startsWith(term)))) return [];
    return [{ command, marks: marksIn(command.text, terms) }];
  }).slice(0, most);
}
