import type { Instant } from '../types.ts';
import { isController, shadowFacts, type ShadowFacts } from './facts.ts';
import type { Picture } from './picture.ts';
import { NOTHING, type Rule, type Write } from './rule.ts';

/** What a process has read may be as old as a request may take when it writes on it, milliseconds. */
const READ_WITHIN = 35_000;
/** An agent that has just begun was not there yet for who looked, milliseconds. */
const UNSEEN = 60_000;

/** L8, M8 (c): an update is ended before its time only where the node is not disturbed, or where its agent is gone and the host is not back from its reboot. */
export const calledOff: Rule = {
  name: 'called-off',
  begin(picture) {
    // By name of the node, since when it bears marks; since when it has its boot.
    const markedAt = new Map<string, Instant>();
    const boots = new Map<string, { readonly boot: string | undefined; readonly at: Instant }>();
    return {
      see(entry) {
        if (entry.kind !== 'write') return NOTHING;
        if (entry.resource === 'nodes') noteNode(picture, entry, { markedAt, boots });
        const ended = endIn(entry);
        if (!ended) return NOTHING;
        const { node } = ended;
        const why = tooEarly(picture, entry, {
          old: ended,
          markedAt: markedAt.get(node) ?? Infinity,
          bootAt: boots.get(node)?.at ?? Infinity,
        });
        return why === undefined ? NOTHING : [`${entry.by} ended the update of ${node}, ${why}`];
      },
    };
  },
};

interface Known {
  readonly markedAt: Map<string, Instant>;
  readonly boots: Map<string, { readonly boot: string | undefined; readonly at: Instant }>;
}

function noteNode({ nodes }: Picture, { name, at }: Write, { markedAt, boots }: Known): void {
  const facts = nodes.get(name)?.facts;
  if (!facts?.marks) markedAt.delete(name);
  else if (!markedAt.has(name)) markedAt.set(name, at);
  if (boots.get(name)?.boot !== facts?.boot) boots.set(name, { boot: facts?.boot, at });
}

/** The shadow as it was; undefined where nothing ends, or what ends has come to its own end. */
function endIn({ resource, by, before, after }: Write): ShadowFacts | undefined {
  if (resource !== 'bottlerocketshadows' || !before || !after || !isController(by)) return undefined;
  const [old, made] = [shadowFacts(before), shadowFacts(after)];
  const isEnd = old.state !== 'Idle' && made.state === 'Idle';
  const isOver = old.state === 'MonitoringUpdate' || old.status?.state === 'ErrorReset';
  return isEnd && !isOver ? old : undefined;
}

interface Ended {
  readonly old: ShadowFacts;
  readonly markedAt: Instant;
  readonly bootAt: Instant;
}

function tooEarly(picture: Picture, { at, sentAt }: Write, { old, markedAt, bootAt }: Ended): string | undefined {
  const { runs, since } = picture.agentOf(old.node);
  const request = old.status?.record?.requested ? old.status.record : undefined;
  const isOther = request !== undefined && request.boot !== picture.nodes.get(old.node)?.facts.boot;
  if (!runs) return isOther && bootAt < sentAt - READ_WITHIN ? 'which is back from its reboot' : undefined;
  return at - since > UNSEEN ? disturbed(old, markedAt < sentAt - READ_WITHIN) : undefined;
}

function disturbed({ state, status }: ShadowFacts, isMarked: boolean): string | undefined {
  if (status?.record?.requested) return 'which has been asked to reboot';
  // Marks that are there before the drain is wanted are those of an earlier update, whose shadow is gone.
  return isMarked && state === 'RebootedIntoUpdate' ? 'which bears marks, and whose agent runs' : undefined;
}
