import type { Ailment, Witness } from './pods.ts';

/** Pods of one revision of one owner, by where they run. */
export interface Compared {
  /** On the node that was updated and is looked at. */
  readonly here: readonly Witness[];
  /** On other nodes that run the same version. */
  readonly updated: readonly Witness[];
  /** On nodes that do not, and are Ready. */
  readonly elsewhere: readonly Witness[];
}

/** Fewer say nothing. */
const LEAST_ELSEWHERE = 2;
/** One in so many may ail elsewhere: some always do. */
const ONE_IN = 10;

const WORDS: Readonly<Record<Ailment, string>> = {
  image: 'cannot have their image',
  sandbox: 'do not get as far as their containers',
  crash: 'crash again and again',
  unready: 'are not Ready',
};

/**
 * Why the pods of one owner are clearly worse on updated nodes than elsewhere; undefined where they are not. All of these hold:
 * - more than half of them ail here, after five minutes, and more than half of those on all nodes of this version, or it is the machine and not the
 *   release;
 * - at least two of the same revision run elsewhere long enough to tell, and at most one in ten of these ails: what crashes everywhere, and what has no
 *   peer, tells nothing;
 * - where the image cannot be had, at least two elsewhere were made after these began to ail: the others have had theirs from before, whoever cannot
 *   reach a registry now.
 */
export function whyWorse({ here, updated, elsewhere }: Compared): string | undefined {
  const first = here.find(ails);
  if (!first || !mostAil(here) || !mostAil([...here, ...updated])) return undefined;
  const ailment = first.health as Ailment;
  const witnesses = judged(ailment === 'image' ? madeSince(here, elsewhere) : elsewhere);
  const ailing = witnesses.filter(ails).length;
  if (witnesses.length < LEAST_ELSEWHERE || ailing * ONE_IN > witnesses.length) return undefined;
  const { kind, name } = first.owner;
  const [namespace = ''] = first.name.split('/');
  const sick = [...here, ...updated].filter(ails).length;
  const all = judged([...here, ...updated]).length;
  return `${sick} of ${all} pods of ${kind} ${namespace}/${name} ${WORDS[ailment]} on nodes of this version, ${ailing} of ${witnesses.length} elsewhere`;
}

const ails = ({ health }: Witness): boolean => health !== undefined && health !== 'well';
const judged = (pods: readonly Witness[]): readonly Witness[] => pods.filter(({ health }) => health !== undefined);

function mostAil(pods: readonly Witness[]): boolean {
  const known = judged(pods);
  return known.filter(ails).length * 2 > known.length;
}

function madeSince(here: readonly Witness[], elsewhere: readonly Witness[]): readonly Witness[] {
  const since = Math.max(...here.filter(ails).map(({ unreadySince, createdAt }) => unreadySince ?? createdAt));
  return elsewhere.filter(({ createdAt }) => createdAt > since);
}
