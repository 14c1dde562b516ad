import { isOperator } from './facts.ts';
import type { Picture } from './picture.ts';
import { NOTHING, ofWrites, type Rule, type Write } from './rule.ts';
import { type Cordon, nodesOf, type SeenNode } from './seen-node.ts';

/** U2: whoever uncordons and cordons again in so little time may not have been seen in between, milliseconds. */
const UNSEEN = 1_800_000;

/** M6, M7. */
export const administratorsCordons: Rule = {
  name: 'administrators-cordons',
  begin(picture) {
    // The picture forgets who has cordoned once the cordon is gone.
    const authors = new Map<string, Cordon | undefined>();
    return ofWrites('nodes', (write) => {
      const author = authors.get(write.name);
      authors.set(write.name, picture.nodes.get(write.name)?.cordon);
      return isLifted(write) ? taken(picture, write, author) : NOTHING;
    });
  },
};

function isLifted(write: Write): boolean {
  const { old, made } = nodesOf(write);
  return isOperator(write.by) && old?.cordoned === true && made?.cordoned === false;
}

function taken(picture: Picture, write: Write, author: Cordon | undefined): readonly string[] {
  const { name, by } = write;
  if (nodesOf(write).old?.held) return [`${by} uncordoned ${name}, which bears the hold annotation`];
  if (!author || isOperator(author.by) || isUndecidable(picture, write, author)) return NOTHING;
  return [`${by} took the cordon of ${author.by} from ${name}`];
}

/** U2 and U3. */
function isUndecidable(picture: Picture, write: Write, { at, liftedAt }: Cordon): boolean {
  const { old } = nodesOf(write);
  if (!old) return false;
  if (old.marks) return old.marks.owns.includes('cordon') && at - (liftedAt ?? -Infinity) < UNSEEN;
  const shadow = picture.shadowOf(old);
  if (shadow?.state !== 'RebootedIntoUpdate') return false;
  return !shadow.status?.draining && old.version === shadow.version;
}

/** M6: a release leaves nothing of ours. Whoever has changed the marks has said that he sees to it. */
export const nothingLeft: Rule = {
  name: 'nothing-left',
  begin: (picture) =>
    ofWrites('nodes', (write) => {
      const { old, made } = nodesOf(write);
      const node = picture.nodes.get(write.name);
      if (!node || !old?.marks || !made || made.marks || !isOperator(write.by)) return NOTHING;
      const left = leftOn(node);
      return left.length > 0 ? [`${write.by} took the marks from ${write.name} and left ${left.join(', ')}`] : NOTHING;
    }),
};

function leftOn({ robbedAt, signs, cordon, facts }: SeenNode): readonly string[] {
  if (robbedAt > -Infinity) return NOTHING;
  const left = [...signs].filter(([, author]) => isOperator(author)).map(([sign]) => sign);
  return cordon && isOperator(cordon.by) && !facts.held ? ['the cordon', ...left] : left;
}
