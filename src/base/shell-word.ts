/** One word as a POSIX shell reads it: as it is where that is plain, else in single quotes. */
export function shellWord(word: string): string {
  return /^[\w@%+:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** The words of a command as one line for a POSIX shell. */
export function shellLine(words: readonly string[]): string {
  return words.map(shellWord).join(' ');
}
