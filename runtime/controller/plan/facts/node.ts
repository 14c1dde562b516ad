import type { NodeView } from './snapshot.ts';

/** No update starts on it, whatever others do: somebody has decided so. */
export const keepsOut = ({ held, leaving = false }: Pick<NodeView, 'held' | 'leaving'>): boolean => held || leaving;

/** How a node is that is not Ready, or that its policy counts as such. */
export const notReadyText = ({ unwell }: Pick<NodeView, 'unwell'>): string =>
  unwell === undefined ? 'not Ready' : `unwell to its policy: ${unwell}`;
