/** A condition of a Node, or a taint on it, as a text that many nodes share. */

export const conditionSign = (type: string, status: string): string => `${type}=${status}`;
/** @param effect of one that only asks pods to go elsewhere is `PreferNoSchedule` */
export const taintSign = (key: string, effect = 'NoSchedule'): string =>
  effect === 'PreferNoSchedule' ? `soft taint ${key}` : `taint ${key}`;
export const taintSigns = (key: string): readonly string[] => [taintSign(key), taintSign(key, 'PreferNoSchedule')];

/** By what a policy calls a node unwell. */
export type UnwellSign =
  { readonly condition: string; readonly status?: string | undefined } | { readonly taint: string };

/** A condition that nobody keeps up any more is no better than a bad one. */
export function signsOf(sign: UnwellSign): readonly string[] {
  if ('taint' in sign) return taintSigns(sign.taint);
  return [sign.status ?? 'True', 'Unknown'].map((status) => conditionSign(sign.condition, status));
}
