/** The value of a command-line option in either spelling (`--x v`, `--x=v`), or undefined. */
export function optionValue(args: readonly string[], ...names: string[]): string | undefined {
  for (const [index, arg] of args.entries()) {
    if (names.includes(arg)) return args[index + 1];
    const joined = names.find((name) => arg.startsWith(`${name}=`));
    if (joined !== undefined) return arg.slice(joined.length + 1);
  }
  return undefined;
}

/** A command-line option with its value; empty for null. */
export function option(name: string, value: string | null): string[] {
  return value === null ? [] : [name, value];
}
