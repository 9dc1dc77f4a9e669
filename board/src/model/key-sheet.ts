/** Keys with what they do; several that do it are parted by a space. */
export type KeyGroup = { heading: string; keys: readonly (readonly [keys: string, does: string])[] };

/** What the sheet of keys shows. */
export const KEY_GROUPS: readonly KeyGroup[] = [
  {
    heading: 'Move about',
    keys: [
      ['j k ↓ ↑', 'the next card, the one before'],
      ['h l ← →', 'the list at the left, at the right'],
      ['Enter', 'open the card'],
      ['Escape', 'close what is open'],
      ['f', 'filter the Desk'],
      ['/', 'find a fiber or a command'],
      ['s c', 'stash, capture'],
      ['1 … 5 ,', 'the Desk, Day, Week, Chronicle and Shelf, the settings'],
      ['g\u00a0h', 'the hosts, with one key after the other'],
      ['?', 'these keys'],
    ],
  },
  {
    heading: 'The focused card',
    keys: [
      ['m', 'move it'],
      ['.', 'everything that can be done'],
      ['L', 'launch'],
      ['r', 'reply to its worker'],
      ['w', 'watch the screen of its worker'],
      ['a', 'accept'],
      ['x', 'set aside'],
      ['z', 'rest until a day'],
      ['u', 'undo the last move'],
    ],
  },
  {
    heading: 'Several cards',
    keys: [
      ['v', 'choose the card, or leave it out'],
      ['J K', 'choose it and the next one, the one before; Shift with ↓ ↑ or a click does so too'],
      ['Escape', 'choose none'],
    ],
  },
  {
    heading: 'In the Day and the Week',
    keys: [
      ['← →', 'some minutes back, forth'],
      ['+ -', 'show less of the day, more of it'],
      ['[ ]', 'the day or the week before, after'],
      ['t', 'today'],
    ],
  },
  {
    heading: 'In the Move menu',
    keys: [
      ['d', 'Drafts'],
      ['f', 'In flight: launch it'],
      ['r', 'Awaiting review'],
      ['a x', 'accept, set aside'],
      ['1 … 5', 'rest until that day'],
    ],
  },
];
