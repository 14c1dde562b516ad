import { UnreachableError } from '../../runtime/kube/errors.ts';
import type { Replica } from './world.ts';

/** Kills the replica once it has written that often, 0 = before it writes. Rejects at its death; settles in no other way. */
export function diesAfter({ tap }: Replica, writes: number): Promise<never> {
  return new Promise((_, reject) => {
    const die = (): never => {
      tap.kill();
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
