let disjunction: Intl.ListFormat | undefined;

/** Words as alternatives: `a, b or c`. */
export function alternatives(words: Iterable<string>): string {
  // Made at its first use, which takes 6 ms: most processes name no alternatives.
  disjunction ??= new Intl.ListFormat('en-GB', { type: 'disjunction' });
  return disjunction.format(words);
}
