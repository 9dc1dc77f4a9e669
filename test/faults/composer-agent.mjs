// An agent without a model that takes messages, for fault runs: `composer-agent.mjs <witness file> … <prompt>`.
// Shows a composer as Claude Code does, takes a bracketed paste and Enter, and writes what it was told, and an answer,
// into a transcript of the same format. Now and then it is busy with a question, which takes no text.
import { randomUUID } from 'node:crypto';
import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';

const { CLAUDE_CONFIG_DIR, SVC_FIBER_UID } = process.env;
const [witness] = process.argv.slice(2);
const prompt = process.argv.at(-1);
const session = process.argv[process.argv.findIndex((word) => /^--(session-id|resume)$/.test(word)) + 1];
const folder = join(CLAUDE_CONFIG_DIR, 'projects', process.cwd().replace(/[^a-zA-Z0-9]/g, '-'));
const RULE = '─'.repeat(60);
const PASTE = /\u001b\[20([01])~/;

let last = null;
function record(type, message) {
  const uuid = randomUUID();
  const line = {
    ...{ parentUuid: last, type, message, uuid, sessionId: session, cwd: process.cwd() },
    timestamp: new Date().toISOString(),
  };
  last = uuid;
  appendFileSync(join(folder, `${session}.jsonl`), `${JSON.stringify(line)}\n`);
}
const told = (content) => record('user', { role: 'user', content });
const answer = (text) =>
  record('assistant', { role: 'assistant', model: 'none', content: [{ type: 'text', text }] });

let draft = '';
let asks = false;
function draw() {
  const shown = draft.split('\n').join('\r\n  ');
  const page = asks
    ? ' Do you want to go on?\r\n ❯ 1. Yes\r\n   2. No\r\n\r\n Esc to cancel\r\n'
    : `${RULE}\r\n❯\u00a0${shown}\r\n${RULE}\r\n  ? for shortcuts\r\n`;
  process.stdout.write(`\u001b[2J\u001b[H${page}`);
}

const queue = [];
let wake = () => {};
async function work() {
  for (;;) {
    while (queue.length === 0)
      await new Promise((resolve) => {
        wake = resolve;
      });
    // What is shown as sent is in the transcript a moment later.
    await delay(Math.random() * 80);
    told(queue.shift());
    await delay(Math.random() * 200);
    answer('Understood.');
    if (Math.random() > 0.1) continue;
    asks = true;
    draw();
    await delay(500 + Math.random() * 1_500);
    asks = false;
    draw();
  }
}

let pasting = false;
/** What a terminal gives is cut anywhere, also within an escape sequence. */
let rest = '';
function take(bytes) {
  rest += bytes;
  for (;;) {
    const found = PASTE.exec(rest);
    const whole = found === null ? rest.replace(/\u001b(\[(2(0[01]?)?)?)?$/, '') : rest.slice(0, found.index);
    for (const char of whole) key(char);
    rest = rest.slice(found === null ? whole.length : found.index + found[0].length);
    if (found === null) return draw();
    pasting = found[1] === '0';
  }
}
function key(char) {
  if (asks) return appendFileSync(witness, `${JSON.stringify({ event: 'swallowed', uid: SVC_FIBER_UID })}\n`);
  if (pasting) draft += char === '\r' ? '\n' : char;
  else if (char === '\r') {
    if (draft !== '') queue.push(draft);
    draft = '';
    wake();
  } else draft += char;
}

for (const name of ['SIGHUP', 'SIGTERM']) process.on(name, () => process.exit(0));
mkdirSync(folder, { recursive: true });
process.stdin.setRawMode(true);
process.stdin.setEncoding('utf8');
process.stdin.on('data', take);
process.stdout.write('\u001b[?2004h');
told(prompt);
answer('Ready.');
draw();
await work();
