/** A step of the protocol that is left out, or done in another order, and the tests that must then fail. */
export interface Mutant {
  /** The rule of docs/protocol.md. */
  readonly rule: string;
  /** What the code does then. */
  readonly does: string;
  /** The file that is changed, from the root of the repository. */
  readonly file: string;
  /** The text that goes; it stands in the file exactly once. */
  readonly find: string;
  readonly replace: string;
  /** Test files, from the root of the repository; one failing test in any of them is enough. */
  readonly tests: readonly string[];
}

/** By rule, and what the code does then: the text that goes, and what comes instead. */
type Changes = Readonly<Record<string, readonly [find: string, replace: string]>>;

/** Mutants of one file that the same tests must notice. */
export const mutantsOf = (file: string, tests: readonly string[], changes: Changes): readonly Mutant[] =>
  Object.entries(changes).map(([says, [find, replace]]) => {
    const [rule = '', does = ''] = says.split(': ');
    return { rule, does, file, find, replace, tests };
  });

/** The file's text with the mutation; throws when the text that should go does not stand there exactly once. */
export function mutated(text: string, { rule, file, find, replace }: Mutant): string {
  const parts = text.split(find);
  if (parts.length !== 2) {
    throw new Error(`${file}: expected the text of rule "${rule}" once, found it ${parts.length - 1} times: ${find}`);
  }
  return parts.join(replace);
}

export function describe({ rule, does, file }: Mutant): string {
  return `${rule}: ${does} (${file})`;
}
