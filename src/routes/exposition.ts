type Labels = Readonly<Record<string, string>>;
/** One line of a figure: its value, its labels, what stands after its name, and the bound of a bucket. */
export type Sample = { suffix: string; labels: Labels; value: number; le?: string };
/** A figure in the Prometheus text format. */
export type Figure = {
  name: string;
  type: 'counter' | 'gauge' | 'histogram';
  help: string;
  samples: Sample[];
};
/** Counts of one histogram, the last for what is above every bound, and the sum of what was observed. */
export type HistogramValue = { counts: number[]; sum: number };

export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

export function sample(value: number, labels: Labels = {}, suffix = ''): Sample {
  return { suffix, labels, value };
}

/** A figure of one number; null is left out. */
export function gauge(
  name: string,
  help: string,
  samples: number | null | readonly Sample[],
  type: 'gauge' | 'counter' = 'gauge',
): Figure {
  if (samples === null) return { name, type, help, samples: [] };
  return { name, type, help, samples: typeof samples === 'number' ? [sample(samples)] : [...samples] };
}

/** `bounds` are the upper bounds of the buckets, rising; each value has one count more than there are bounds. */
export function histogram(
  name: string,
  help: string,
  bounds: readonly number[],
  values: readonly (HistogramValue & { labels: Labels })[],
): Figure {
  const samples = values.flatMap(({ labels, counts, sum }) => {
    let total = 0;
    const buckets = counts.map((count, index) => {
      total += count;
      const le = index < bounds.length ? String(bounds[index]) : '+Inf';
      return { suffix: '_bucket', labels, value: total, le };
    });
    return [...buckets, sample(sum, labels, '_sum'), sample(total, labels, '_count')];
  });
  return { name, type: 'histogram', help, samples };
}

/** The text that Prometheus reads; figures without a sample are left out. */
export function expose(figures: readonly Figure[]): string {
  return figures
    .filter(({ samples }) => samples.length > 0)
    .map(({ name, type, help, samples }) => {
      const lines = samples.map(
        ({ suffix, labels, value, le }) => `${name}${suffix}${labelsOf(labels, le)} ${numberText(value)}\n`,
      );
      return `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n${lines.join('')}`;
    })
    .join('');
}

/** Texts of labels that never change: each of the many buckets of a histogram has the same ones. */
const texts = new WeakMap<Labels, string>();

function labelsOf(labels: Labels, le: string | undefined): string {
  const kept = texts.get(labels);
  const text = kept ?? labelText(labels);
  if (kept === undefined && Object.isFrozen(labels)) texts.set(labels, text);
  const all = le === undefined ? text : `${text}${text === '' ? '' : ','}le="${le}"`;
  return all === '' ? '' : `{${all}}`;
}

function labelText(labels: Labels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escapeLabel(value)}"`)
    .join(',');
}

function escapeLabel(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function numberText(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value);
}
