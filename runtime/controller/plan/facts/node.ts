import type { NodeView } from './snapshot.ts';

type Decided = Pick<NodeView, 'held' | 'leaving'>;

/** No update starts on it, for as long as that lasts and whatever others do: nobody waits for it. */
export const neverStarts = ({ held, leaving = false }: Decided): boolean => held || leaving;

/** Somebody is at work on it: that it is down, or boots, says nothing of the release that it runs (rule F1). */
export const isInHands = ({ held, leaving = false }: Decided): boolean => held || leaving;

/** People ask for its update, or for another try. */
export const isAskedFor = ({ askedBy, retryOf }: Pick<NodeView, 'askedBy' | 'retryOf'>): boolean =>
  askedBy !== undefined || retryOf !== undefined;

/** How a node is that is not Ready, or that its policy counts as such. */
export const notReadyText = ({ unwell }: Pick<NodeView, 'unwell'>): string =>
  unwell === undefined ? 'not Ready' : `unwell to its policy: ${unwell}`;

/** How many nodes these are. */
export function countNodes(infos: readonly { readonly node: Pick<NodeView, 'alike'> }[]): number {
  return infos.reduce((count, { node }) => count + (node.alike ?? 0), infos.length);
}
