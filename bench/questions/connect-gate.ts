import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { portOf, startProgram, stopProgram } from '../child.ts';
import { type Bench, judged, median, percentile, shown } from '../frame.ts';

const OTHERS = 5_000;
const PER_SECOND = 200;
const ROUND_MS = 3_000;
const ROUNDS = 3;
/** Connections of a round that are made one after another. */
const ALONE = 60;
const REQUEST = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n';

/** Milliseconds until the connection stood, and until its first answer was there. */
type Dialled = { stood: number; answered: number };

export const bench: Bench = {
  name: 'connect-gate',
  question: `what does the peer gate add to a connection, at ${PER_SECOND} a second and with ${OTHERS} other sockets open?`,
  async run(log) {
    const others = startProgram('servers/sockets.ts', [String(OTHERS)]);
    const servers = (['off', 'on'] as const).map((gate) => ({
      gate,
      child: startProgram('servers/gated.ts', [gate]),
    }));
    try {
      await portOf(others);
      const measured = new Map(
        servers.map(({ gate }) => [
          gate,
          { dials: [] as Dialled[], cpu: [] as number[], alone: [] as Dialled[] },
        ]),
      );
      const ports = await Promise.all(servers.map(({ child }) => portOf(child)));
      for (let round = 0; round < ROUNDS; round += 1) {
        for (const [index, { gate, child }] of servers.entries()) {
          for (let count = 0; count < ALONE; count += 1)
            measured.get(gate)!.alone.push(await dial(ports[index]!));
          const before = cpuMs(child.pid);
          const dials = await dialOpenly(ports[index]!);
          measured.get(gate)!.dials.push(...dials);
          measured.get(gate)!.cpu.push((cpuMs(child.pid) - before) / dials.length);
          log(
            `gate ${gate}: ${dials.length} connections, median ${median(dials.map((one) => one.answered)).toFixed(2)} ms`,
          );
        }
      }
      const of = (gate: 'on' | 'off') => measured.get(gate)!;
      const answered = (gate: 'on' | 'off') => of(gate).dials.map((one) => one.answered);
      const stood = (gate: 'on' | 'off') => of(gate).dials.map((one) => one.stood);
      return [
        judged(
          {
            name: 'to the first answer, median with the gate ÷ without',
            value: median(answered('on')) / median(answered('off')),
            unit: '×',
            against: [
              { name: 'with', value: median(answered('on')), unit: 'ms' },
              { name: 'without', value: median(answered('off')), unit: 'ms' },
            ],
          },
          { most: 1.5 },
        ),
        judged(
          {
            name: 'until connected, median with the gate ÷ without',
            value: median(stood('on')) / median(stood('off')),
            unit: '×',
            against: [
              { name: 'with', value: median(stood('on')), unit: 'ms' },
              { name: 'without', value: median(stood('off')), unit: 'ms' },
            ],
          },
          { most: 1.5 },
        ),
        shown(
          'one after another, median with the gate',
          median(of('on').alone.map((one) => one.answered)),
          'ms',
        ),
        shown('one after another, median without', median(of('off').alone.map((one) => one.answered)), 'ms'),
        shown('to the first answer, p99 with the gate', percentile(answered('on'), 99), 'ms'),
        shown('to the first answer, p99 without', percentile(answered('off'), 99), 'ms'),
        shown('CPU of a connection with the gate', median(of('on').cpu), 'ms'),
        shown('CPU of a connection without', median(of('off').cpu), 'ms'),
        shown('reading the whole table once', tableMs(), 'ms'),
      ];
    } finally {
      await Promise.all([others, ...servers.map(({ child }) => child)].map(stopProgram));
    }
  },
};

/** Dials at a fixed rate, however long the answers take. */
async function dialOpenly(port: number): Promise<Dialled[]> {
  const dials: Promise<Dialled>[] = [];
  const started = performance.now();
  while (performance.now() - started < ROUND_MS) {
    const due = ((performance.now() - started) / 1000) * PER_SECOND;
    while (dials.length < due) dials.push(dial(port));
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return Promise.all(dials);
}

function dial(port: number): Promise<Dialled> {
  const from = performance.now();
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, noDelay: true });
    let stood = 0;
    socket.once('connect', () => {
      stood = performance.now() - from;
      socket.write(REQUEST);
    });
    socket.once('data', () => {
      const answered = performance.now() - from;
      // A reset leaves nothing behind in the tables that the next connection would pay for.
      socket.resetAndDestroy();
      resolve({ stood, answered });
    });
    socket.once('error', reject);
    socket.once('end', () => reject(new Error('the server closed a connection without an answer')));
  });
}

/** Processor time of a process so far, in milliseconds. */
function cpuMs(pid = 0): number {
  const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ');
  const fields = rest.split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

function tableMs(): number {
  return median(
    Array.from({ length: 9 }, () => {
      const from = performance.now();
      readFileSync('/proc/self/net/tcp');
      return performance.now() - from;
    }),
  );
}
