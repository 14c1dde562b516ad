import { UnreachableError } from '../../runtime/kube/errors.ts';
import type { Replica } from './world.ts';

/** What a kill -9 is to everybody else: nothing of the replica reaches the cluster any more, and no answer reaches the replica. */
export function kill({ tap }: Replica): void {
  const dead = new UnreachableError('killed');
  const refuse = (): never => {
    throw dead;
  };
  tap.before = refuse;
  tap.after = refuse;
  tap.beforeWatch = refuse;
  tap.cut(dead);
}

/** Kills the replica once it has written that often, 0 = before it writes. Rejects at its death; settles in no other way. */
export function diesAfter(replica: Replica, writes: number): Promise<never> {
  const { tap } = replica;
  return new Promise((_, reject) => {
    const die = (): never => {
      kill(replica);
      const dead = new UnreachableError('killed');
      reject(dead);
      throw dead;
    };
    let left = writes;
    tap.before = ({ method }) => {
      if (method !== 'GET' && left === 0) die();
    };
    tap.after = ({ method }) => {
      if (method !== 'GET' && --left === 0) die();
    };
  });
}
