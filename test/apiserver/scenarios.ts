import { describe, test } from '@jest/globals';

/**
 * What the apiserver does for an agent, scenario by scenario. Each is played in two places under the same sentence: with an API that has a
 * script and sees every call (test/apiserver/scripted), and on a cluster, the embedded one or a real one (test/contract).
 */
export interface Scenarios {
  'a drain':
    | 'of an empty node cordons it, marks it and proves it empty'
    | 'evicts the pods of its node and ends as the last of them goes'
    | 'waits for a pod that ends already, and asks for no eviction'
    | 'leaves the pods of DaemonSets, mirror pods and finished pods alone'
    | 'evicts pods with local data and pods that nothing would create anew'
    | 'evicts a pod that lands in its middle'
    | 'evicts a pod that tolerates the cordon but was there before it'
    | 'names a pod that came after the cordon and tolerates it, and does not wait for it'
    | 'asks no more for a pod that is gone'
    | 'leaves the namesake alone that has taken a pod’s place on another node'
    | 'waits for the pods of a namespace that ends'
    | 'waits until the volumes of its pods are unmounted, and not for those of a pod that stays'
    | 'outlives watches that break'
    | 'evicts the operator’s own pods last'
    | 'leaves the operator’s own pods where no other node could take them';
  'in the middle of a drain':
    | 'an administrator who uncordons has the node cordoned again, and drained of what came'
    | 'marks that vanish end it with the word to ask again'
    | 'a node that vanishes ends it, too';
  'a node is not cordoned':
    | 'where the status cannot be written'
    | 'where the shadow changed since it was looked at, and no drain is wanted any more'
    | 'where the node changed since it was looked at, and no drain is wanted any more';
  'requests for one drain':
    | 'by way of two replicas are answered by both, each by a look of its own'
    | 'join the run of their replica, which goes on when a client is gone'
    | 'bring the drain of a replica that was killed to its end'
    | 'find the deadline that a replica that was killed had'
    | 'are told to ask again by a replica that is shut down';
  'an eviction that must wait':
    'is asked for again after a pause, and the budget in its way is named' | 'is asked for again when the answer says';
  'an eviction that never succeeds ends at the deadline, with who is left and why, and in no success':
    | '429 of a budget'
    | '429 of a server that says when'
    | '500 of two budgets at once'
    | '403 of its role'
    | '403 of an admission policy'
    | '422 of an admission policy'
    | '403 of a webhook'
    | '409 of a webhook'
    | '404 of a webhook'
    | '500 of a webhook that cannot be reached'
    | '500 of a webhook that does not answer in time'
    | '403 of a namespace that ends'
    | 'no connection'
    | 'an answer that never comes';
  'the last check':
    | 'is made anew where the node changed since it was looked at'
    | 'is made anew where the shadow changed since it was looked at'
    | 'is no success where the pods cannot be listed'
    | 'is no success where the proof is refused';
  'before a drain that cannot end as things are':
    | 'people are told, and the node is drained as far as it goes'
    | 'with "refuse" the node stays in service, and is drained once things have changed'
    | 'with "refuse" the node stays with its load balancers too'
    | 'two budgets on one pod are among what stands in the way'
    | 'budgets that cannot be read stand in the way with "refuse" alone';
  'an uncordon':
    | 'undoes what the marks own, once the node is at its version'
    | 'in the step that reboots writes nothing before the node is at its version'
    | 'leaves an administrator’s cordon, each time it is asked'
    | 'leaves the cordon of a node on hold'
    | 'leaves what others have told the autoscalers'
    | 'looks again where the node changed, and obeys what it sees then'
    | 'without marks lifts the cordon of an older apiserver, at the wanted version'
    | 'without marks writes nothing once a drain of ours has run'
    | 'without marks writes nothing in another step';
  'the exclusion from load balancers':
    | 'comes with marks that own it'
    | 'is not written where it stands'
    | 'is refused outside of the step that reboots'
    | 'ends with its marks'
    | 'of somebody else does not end with ours';
}

type Group = keyof Scenarios;
type Play = () => Promise<void>;

/** A play for each scenario; undefined where this stage cannot be brought to it. */
export type Plays<G extends Group> = Readonly<Record<Scenarios[G], Play | undefined>>;

/** The scenarios of a group as tests. */
export function play<G extends Group>(group: G, plays: Plays<G>): void {
  describe(group, () => {
    for (const [name, one] of Object.entries<Play | undefined>(plays)) {
      if (one) test(name, one);
      else test.skip(name, () => undefined);
    }
  });
}
