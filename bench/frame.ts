import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { join } from 'node:path';

/** One figure of one question, with what it is held against in the same run. */
export type Figure = {
  name: string;
  value: number;
  unit: string;
  /** The other figures of the same run that give it meaning: floor, baseline. */
  against: { name: string; value: number; unit: string }[];
  /** What must hold, in words, and whether it held. */
  target: string | null;
  met: boolean | null;
};

/** One benchmark: a question that a number answers. */
export type Bench = {
  name: string;
  question: string;
  run(log: (line: string) => void): Promise<Figure[]>;
};

export type Report = {
  at: string;
  machine: { node: string; kernel: string; cores: number; cpu: string; memory_gb: number };
  results: { bench: string; question: string; seconds: number; figures: Figure[] }[];
};

/** Runs the benches one after another and prints a table of each. */
export async function runBenches(benches: Bench[], log: (line: string) => void): Promise<Report> {
  const report: Report = { at: new Date().toISOString(), machine: machine(), results: [] };
  log(`${report.machine.cores} cores, ${report.machine.cpu}, node ${report.machine.node}`);
  for (const bench of benches) {
    log(`\n${bench.name}: ${bench.question}`);
    const started = performance.now();
    const figures = await bench.run((line) => log(`  ${line}`));
    const seconds = Math.round((performance.now() - started) / 100) / 10;
    report.results.push({ bench: bench.name, question: bench.question, seconds, figures });
    for (const line of tableOf(figures)) log(`  ${line}`);
  }
  return report;
}

/** Writes the report beside the others and answers its path. */
export function saveReport(report: Report, folder: string): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${report.at.replaceAll(':', '-')}.json`);
  writeFileSync(path, `${JSON.stringify(report, null, 2)}\n`);
  return path;
}

/** The names of the figures whose target did not hold. */
export function missed(report: Report): string[] {
  return report.results.flatMap((result) =>
    result.figures
      .filter((figure) => figure.met === false)
      .map((figure) => `${result.bench}: ${figure.name} is ${show(figure)}, target ${figure.target}`),
  );
}

export function median(values: number[]): number {
  return percentile(values, 50);
}

/** Nearest-rank percentile; NaN for no values. */
export function percentile(values: number[], rank: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((rank / 100) * sorted.length) - 1)] ?? Number.NaN;
}

/** A figure that must be at least, or at most, a bound. */
export function judged(
  figure: { name: string; value: number; unit: string; against?: Figure['against'] },
  bound: { least: number } | { most: number },
): Figure {
  const [target, met] =
    'least' in bound
      ? [`≥ ${bound.least}`, figure.value >= bound.least]
      : [`≤ ${bound.most}`, figure.value <= bound.most];
  return { ...figure, against: figure.against ?? [], target, met };
}

/** A figure that is only shown. */
export function shown(name: string, value: number, unit: string): Figure {
  return { name, value, unit, against: [], target: null, met: null };
}

function tableOf(figures: Figure[]): string[] {
  const rows = figures.map((figure) => [
    figure.name,
    show(figure),
    figure.against.map((other) => `${other.name} ${show(other)}`).join(', '),
    figure.target === null ? '' : `${figure.target} ${figure.met ? 'met' : 'MISSED'}`,
  ]);
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
}

function show(figure: { value: number; unit: string }): string {
  const digits = figure.value >= 1000 ? 0 : figure.value >= 10 ? 1 : 2;
  return `${figure.value.toFixed(digits)}${figure.unit === '' ? '' : ` ${figure.unit}`}`;
}

function machine(): Report['machine'] {
  return {
    node: process.versions.node,
    kernel: release(),
    cores: cpus().length,
    cpu: cpus()[0]?.model ?? 'unknown',
    memory_gb: Math.round(totalmem() / 2 ** 30),
  };
}
