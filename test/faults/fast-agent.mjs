// An agent without a model, for fault runs: `fast-agent.mjs <witness file> <least ms> <most ms> … <prompt file`.
// Tells the witness file when it starts and ends, writes a transcript as Claude Code does, rewrites its fiber's
// body through `svc fiber edit`, and hands off.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import process from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';

const [witness, least, most] = process.argv.slice(2, 5);
const prompt = process.stdin.isTTY ? '' : readFileSync(0, 'utf8');
const session = process.argv[process.argv.findIndex((word) => /^--(session-id|resume)$/.test(word)) + 1];
const { SVC_FIBER, SVC_FIBER_UID, SVC_RUN_DIR, SVC_STORE, CLAUDE_CONFIG_DIR } = process.env;
const me = { uid: SVC_FIBER_UID, launch: basename(SVC_RUN_DIR), pid: process.pid };
const start_time = startTime(process.pid);

/** One write of one line, so that lines of many agents never mix. */
function tell(event, more = {}) {
  appendFileSync(witness, `${JSON.stringify({ event, ...me, start_time, at: Date.now(), ...more })}\n`);
}

function startTime(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? null : fields[19];
  } catch {
    return null;
  }
}

for (const signal of ['SIGHUP', 'SIGTERM'])
  process.on(signal, () => {
    tell('end', { signal });
    process.exit(0);
  });

tell('start');
// Whoever of two starts last finds the other in the file.
for (const line of readFileSync(witness, 'utf8').split('\n')) {
  if (line === '') continue;
  const other = JSON.parse(line);
  if (other.event !== 'start' || other.uid !== me.uid || other.pid === me.pid) continue;
  if (startTime(other.pid) === other.start_time) tell('overlap', { other: other.launch });
}

const project = join(CLAUDE_CONFIG_DIR, 'projects', process.cwd().replace(/[^a-zA-Z0-9]/g, '-'));
mkdirSync(project, { recursive: true });
const record = {
  type: 'user',
  message: { role: 'user', content: prompt },
  uuid: randomUUID(),
  sessionId: session,
};
appendFileSync(
  join(project, `${session}.jsonl`),
  `${JSON.stringify({ ...record, cwd: process.cwd(), timestamp: new Date().toISOString() })}\n`,
);

function svc(args, input) {
  return new Promise((resolve) => {
    const child = spawn('svc', args, { stdio: ['pipe', 'ignore', 'pipe'] });
    let said = '';
    child.stderr.on('data', (bytes) => {
      said += bytes;
    });
    child.on('error', (error) => resolve({ code: error.code, said }));
    child.on('close', (code, signal) => resolve({ code: code ?? signal, said }));
    child.stdin.on('error', () => {});
    child.stdin.end(input);
  });
}

await delay(Number(least) + Math.random() * (Number(most) - Number(least)));
const leaf = SVC_FIBER.split('/').at(-1);
const text = readFileSync(join(SVC_STORE, '.fibers', SVC_FIBER, `${leaf}.md`), 'utf8');
const body = text.slice(text.indexOf('\n---\n', 4) + 5);
const count = Number(/^Sessions: (\d+)$/m.exec(body)?.[1] ?? Number.NaN) + 1;
const closing = existsSync(`${witness}.finish`) ? ['--status', 'closed'] : [];
const edited = await svc(
  ['fiber', 'edit', SVC_FIBER_UID, '--outcome', `by ${me.launch}`, '--body', '-', ...closing],
  body.replace(/^Sessions: .*$/m, `Sessions: ${count}`),
);
tell(edited.code === 0 ? 'edited' : 'failed', { count, verb: 'edit', ...edited });
const handed = await svc(['handoff', SVC_FIBER_UID]);
tell('failed', { verb: 'handoff', ...handed });
