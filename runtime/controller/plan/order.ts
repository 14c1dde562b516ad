import { compare, type Subject } from './subject.ts';

/**
 * Who starts first: those with the fewest failures; the node that the controller runs on last of all, because its own drain interrupts the
 * controller; by name among equals.
 */
export function byTurn(ownNode: string): (a: Subject, b: Subject) => number {
  return (a, b) =>
    Number(a.node.name === ownNode) - Number(b.node.name === ownNode) ||
    (a.shadow?.status?.crash_count ?? 0) - (b.shadow?.status?.crash_count ?? 0) ||
    compare(a.node.name, b.node.name);
}
