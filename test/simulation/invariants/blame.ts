import { isOperator, shadowFacts, type ShadowFacts } from './facts.ts';
import type { Picture } from './picture.ts';
import type { SeenHost } from './seen-host.ts';
import { NOTHING, ofWrites, type Rule } from './rule.ts';

/** Reasons by which a release may be blamed, and what must have happened to the host since the start. */
const GROUNDS: Readonly<Record<string, (host: SeenHost, version: string) => boolean>> = {
  PrepareFailed: ({ calls }) => calls.has('/actions/prepare-update'),
  ActivateFailed: ({ calls }) => calls.has('/actions/activate-update'),
  BootFailed: ({ downForUpdate, version: running }, version) => downForUpdate && running !== version,
};

/** F1. */
export const blame: Rule = {
  name: 'blame',
  begin: (picture) =>
    ofWrites('bottlerocketshadows', (write) => {
      const { before, after, by } = write;
      if (!before || !after || !isOperator(by)) return NOTHING;
      const [old, made] = [shadowFacts(before), shadowFacts(after)];
      return [...recorded(picture, old, made), ...said(picture, old, made)];
    }),
};

/** An agent that keeps no reasons is believed: its failures count against what it was told to install. */
function recorded(picture: Picture, old: ShadowFacts, made: ShadowFacts): readonly string[] {
  const blamed = made.status?.failed.find((version) => !old.status?.failed.includes(version));
  const reason = made.status?.reason;
  if (blamed === undefined) return NOTHING;
  if (blamed !== made.version) return [`${made.node} blames ${blamed}, and was told to install ${made.version}`];
  if (reason === undefined) return NOTHING;
  const grounds = GROUNDS[reason];
  if (!grounds) return [`${made.node} blames ${blamed} for ${reason}`];
  const host = picture.hosts.get(made.node);
  return host && !grounds(host, blamed)
    ? [`${made.node} blames ${blamed} for ${reason}, and that never happened`]
    : NOTHING;
}

/** Time alone blames only what was asked for. An agent that keeps no records cannot say what it asked for. */
function said({ nodes }: Picture, old: ShadowFacts, made: ShadowFacts): readonly string[] {
  if (made.verdict?.reason !== 'NotReturned' || old.verdict?.reason === 'NotReturned') return NOTHING;
  const record = made.status?.record;
  const isBack = nodes.get(made.node)?.facts.version === made.version;
  if (!record || record.requested || isBack) return NOTHING;
  return [`${made.node} is said not to have returned, and nobody asked it to reboot`];
}
