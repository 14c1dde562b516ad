import type { KubeObject } from '../../../runtime/kube/objects.ts';
import type { Instant } from '../types.ts';
import { at as within, isController, list, shadowFacts, text } from './facts.ts';
import type { Picture } from './picture.ts';
import { NOTHING, ofWrites, type Rule, type Write } from './rule.ts';

/** Times of specs are whole seconds, and a write may wait for its turn, milliseconds. */
const SENT_WITHIN = 5000;

/** M10: no update is complete before what its drain has moved runs again, or has had its time. */
export const settled: Rule = {
  name: 'settled',
  begin(picture) {
    // By name of the shadow, when it was told to monitor.
    const toldAt = new Map<string, Instant>();
    return ofWrites('bottlerocketshadows', (write) => {
      const { name, sentAt, by, before, after } = write;
      const [from, to] = [before, after].map((shadow) => shadow && shadowFacts(shadow).state);
      if (from !== to && to === 'MonitoringUpdate') toldAt.set(name, picture.sight.stoodStillFrom(by, sentAt));
      const isComplete = isController(by) && finishedAt(before) !== finishedAt(after);
      return isComplete && isMissing(before) ? early(picture, toldAt.get(name) ?? -Infinity, write) : NOTHING;
    });
  },
};

const finishedAt = (shadow: KubeObject | undefined): string | undefined => shadow && shadowFacts(shadow).finishedAt;

function isMissing(shadow: KubeObject | undefined): boolean {
  const displaced = within(shadow, 'status', 'displaced');
  return text(within(displaced, 'looked_at')) !== undefined && list(within(displaced, 'missing')).length > 0;
}

function early(picture: Picture, toldAt: Instant, { name, sentAt, before }: Write): readonly string[] {
  const { nodes, rulings, sight, terms } = picture;
  const node = nodes.get(shadowFacts(before!).node);
  const group = node && rulings.groupOf(node.facts);
  if (!group || !sight.known(picture.ruledAt(node), sentAt)) return NOTHING;
  const readyAt = node.facts.ready && sight.known(node.readyAt, sentAt) ? node.readyAt : toldAt;
  const since = Math.min(Math.max(toldAt, readyAt), toldAt + terms.soakTimeoutMs);
  return sentAt < since + group.settleMs - SENT_WITHIN - sight.apartMs
    ? [`the update of ${name} was complete, and what its drain has moved does not run yet`]
    : NOTHING;
}
