/** A rule of the code that is taken out by hand, and the tests that must then fail. */
export interface Mutant {
  /** The rule, by its name in comments or in words. */
  readonly rule: string;
  /** What the code no longer does, in words. */
  readonly without: string;
  /** The file that is changed, from the root of the repository. */
  readonly file: string;
  /** The text that goes; it stands in the file exactly once. */
  readonly find: string;
  readonly replace: string;
  /** Test files, from the root of the repository; one failing test in any of them is enough. */
  readonly tests: readonly string[];
  /** Only tests whose name matches this regular expression. */
  readonly name?: string;
}

/** The file's text without the rule; throws when the text that should go does not stand there exactly once. */
export function withoutRule(text: string, { rule, file, find, replace }: Mutant): string {
  const parts = text.split(find);
  if (parts.length !== 2) {
    throw new Error(`${file}: expected the text of rule "${rule}" once, found it ${parts.length - 1} times: ${find}`);
  }
  return parts.join(replace);
}
