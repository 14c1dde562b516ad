import type { KubeObject } from '../../../runtime/kube/objects.ts';
import type { Entry, Instant } from '../types.ts';
import { isApiserver, isOperator, nodeOf, shadowFacts } from './facts.ts';
import type { Picture } from './picture.ts';
import { NOTHING, ofWrites, type Rule, type Write } from './rule.ts';
import { type Cordon, nodesOf, type SeenNode } from './seen-node.ts';

/** U2: an uncordon that is followed by a cordon within this time may not have been seen, milliseconds. */
const UNSEEN = 1_800_000;

type Of<Kind extends Entry['kind']> = Extract<Entry, { readonly kind: Kind }>;

/** M6, M7. */
export const administratorsCordons: Rule = {
  name: 'administrators-cordons',
  begin(picture) {
    // The picture forgets who has cordoned once the cordon is gone.
    const authors = new Map<string, Cordon | undefined>();
    // By name of the node, when the operator was last refused a write of it, and none has landed since.
    const refused = new Map<string, Instant>();
    return {
      see(entry) {
        if (entry.kind === 'request') noteRefusal(refused, entry);
        if (entry.kind !== 'write' || entry.resource !== 'nodes') return NOTHING;
        const author = authors.get(entry.name);
        const seen = { picture, refusedAt: refused.get(entry.name) ?? -Infinity };
        authors.set(entry.name, picture.nodes.get(entry.name)?.cordon);
        if (isOperator(entry.by)) refused.delete(entry.name);
        return isLifted(entry) ? taken(seen, entry, author) : NOTHING;
      },
    };
  },
};

interface Seen {
  readonly picture: Picture;
  readonly refusedAt: Instant;
}

function noteRefusal(refused: Map<string, Instant>, { at, by, verb, resource, name, code }: Of<'request'>): void {
  if (resource === 'nodes' && verb === 'patch' && code === 403 && name !== undefined && isOperator(by))
    refused.set(name, at);
}

function isLifted(write: Write): boolean {
  const { old, made } = nodesOf(write);
  return isOperator(write.by) && old?.cordoned === true && made?.cordoned === false;
}

function taken(seen: Seen, write: Write, author: Cordon | undefined): readonly string[] {
  const { name, by } = write;
  if (nodesOf(write).old?.held) return [`${by} uncordoned ${name}, which bears the hold annotation`];
  if (!author || isOperator(author.by) || isUndecidable(seen, write, author)) return NOTHING;
  return [`${by} took the cordon of ${author.by} from ${name}`];
}

/** U2 and U3. */
function isUndecidable({ picture, refusedAt }: Seen, write: Write, { at, liftedAt = -Infinity }: Cordon): boolean {
  const { old } = nodesOf(write);
  if (!old) return false;
  // Since it was lifted, nobody could write that down.
  const unwrittenAt = liftedAt > -Infinity ? Math.max(liftedAt, refusedAt) : liftedAt;
  if (old.marks) return old.marks.owns.includes('cordon') && at - unwrittenAt < UNSEEN;
  const shadow = picture.shadowOf(old);
  if (shadow?.state !== 'RebootedIntoUpdate') return false;
  return !shadow.status?.draining && old.version === shadow.version;
}

/**
 * M4, M5: where a node is to reboot into a version that it does not run yet, no apiserver gives it back, whatever has become of its drain. Who gives it
 * back has read the Node as it was before, and what the shadow wants after that.
 */
export const drainsKept: Rule = {
  name: 'drains-kept',
  begin(picture) {
    let order = 0;
    // By name of the node, as numbers in the order of things: since when it is wanted as it is, and when its Node was last written.
    const wanted = new Map<string, number>();
    const written = new Map<string, number>();
    return {
      see(entry) {
        order += 1;
        if (entry.kind !== 'write') return NOTHING;
        if (wantsOther(entry)) wanted.set(nodeOf(entry.name), order);
        if (entry.resource !== 'nodes') return NOTHING;
        const isRead = (wanted.get(entry.name) ?? 0) < (written.get(entry.name) ?? 0);
        written.set(entry.name, order);
        return isRead ? givenBack(picture, entry) : NOTHING;
      },
    };
  },
};

const wantsOther = ({ resource, before, after }: Write): boolean =>
  resource === 'bottlerocketshadows' && wantedIn(before) !== wantedIn(after);

function wantedIn(shadow: KubeObject | undefined): string {
  const { uid, state, version } = (shadow && shadowFacts(shadow)) ?? {};
  return JSON.stringify([uid, state, version]);
}

function givenBack(picture: Picture, write: Write): readonly string[] {
  const { old } = nodesOf(write);
  if (!old || !isApiserver(write.by) || !isRelease(write)) return NOTHING;
  const { state, version } = picture.shadowOf(old) ?? {};
  if (state !== 'RebootedIntoUpdate' || old.version === undefined || old.version === version) return NOTHING;
  return [`${write.by} gave ${write.name} back, which runs ${old.version} and is to reboot into ${version}`];
}

function isRelease(write: Write): boolean {
  const { old, made } = nodesOf(write);
  return isLifted(write) || (old?.marks !== undefined && made !== undefined && !made.marks);
}

/** M6: a release leaves nothing of ours, but where a person has changed the marks and so cares for the rest. */
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

/** P14: whoever writes taints of ours keeps those of others, as they were read. */
export const othersTaints: Rule = {
  name: 'taints',
  begin: () =>
    ofWrites('nodes', (write) => {
      const { old, made } = nodesOf(write);
      if (!old || !made || !isOperator(write.by) || old.uid !== made.uid) return NOTHING;
      const gone = old.othersTaints.filter((key) => !made.othersTaints.includes(key));
      return gone.length > 0
        ? [`${write.by} took from ${write.name} the taints ${gone.join(', ')}, which are not ours`]
        : NOTHING;
    }),
};
