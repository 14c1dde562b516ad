import { type Answer, EXIT, type Options, RefusedCommandError, type Request } from '../command.ts';
import { explained } from '../errors.ts';
import { paint } from '../look.ts';

/** What was done to one object. */
export interface Deed {
  /** e.g. `node a`. */
  readonly object: string;
  /** Something was written; false where it was so already. */
  readonly changed: boolean;
  /** What is so now, as a sentence. */
  readonly says: string;
  /** The command that takes it back; undefined where there is nothing to take back. */
  readonly undo: string | undefined;
}

interface Failed {
  readonly object: string;
  readonly error: string;
}

export const ACTING: Options = {
  'dry-run': { type: 'boolean', help: 'have the API server look at the write, and not make it' },
};

export const BY: Options = {
  by: { type: 'string', value: 'WORDS', help: 'who asks, and why; by default your user name' },
};

/** Who asks, in his own words. They end up in an annotation, which everybody may read. */
export const wordsOf = ({ values, user }: Pick<Request, 'values' | 'user'>): string => String(values['by'] ?? user);

export const isDryRun = ({ values }: Pick<Request, 'values'>): boolean => values['dry-run'] === true;

/** Does it to one object after the other: what cannot be done to one does not keep it from the others. */
export async function done(
  request: Request,
  called: string,
  deed: (name: string) => Promise<Deed>,
): Promise<readonly (Deed | Failed)[]> {
  const results: (Deed | Failed)[] = [];
  for (const name of request.names) {
    results.push(
      await deed(name).catch((error: unknown) => ({ object: `${called} ${name}`, error: explained(error) })),
    );
  }
  return results;
}

/** @throws RefusedCommandError where nothing could be done at all */
export function answerOf(request: Request, results: readonly (Deed | Failed)[]): Answer {
  const deeds = results.filter((one) => 'changed' in one);
  const failed = results.filter((one) => 'error' in one);
  if (deeds.length === 0) throw new RefusedCommandError(failed.map(failureText).join('\n'));
  const dryRun = isDryRun(request);
  return {
    value: { dryRun, done: deeds, failed },
    lines: (look) => [
      ...deeds.flatMap((deed) => deedLines(deed)),
      ...failed.map((one) => paint(look, 'bad', failureText(one))),
      ...(dryRun ? ['Nothing was written: --dry-run.'] : []),
    ],
    exitCode: failed.length > 0 ? EXIT.failed : EXIT.ok,
  };
}

const failureText = ({ object, error }: Failed): string => `${object}: ${error}`;

function deedLines({ object, changed, says, undo }: Deed): readonly string[] {
  const lines = [`${object}: ${says}${changed ? '' : ' (nothing was to be written)'}`];
  return undo === undefined || !changed ? lines : [...lines, `  undo: ${undo}`];
}
