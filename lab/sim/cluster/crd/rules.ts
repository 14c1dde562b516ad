import { isFields } from '../object.ts';

/** The rules in CEL that this cluster knows. */

const textOf = (rule: unknown): string => (isFields(rule) ? String(rule['rule']) : '');

export const UNCHANGING = 'self == oldSelf';
/** A field that is there before and after a write stays what it is. */
export const isUnchanging = (rule: unknown): boolean => textOf(rule) === UNCHANGING;

const EXCLUDING = /^!\(has\(self\.(\w+)\) && has\(self\.(\w+)\)\)$/;
/** Fields that exclude each other; none for another rule. A null is no field. */
export const excludedBy = (rule: unknown): readonly string[] => EXCLUDING.exec(textOf(rule))?.slice(1) ?? [];

export const isKnownRule = (rule: unknown): boolean => isUnchanging(rule) || excludedBy(rule).length > 0;
