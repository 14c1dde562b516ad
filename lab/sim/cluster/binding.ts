import type { Core } from './core.ts';
import { PODS } from './core.ts';
import { at, fields, type KubeJson, text } from './object.ts';
import { badRequest, conflict, success } from './status.ts';
import { type Creation, type Target, update } from './write.ts';

/** The binding subresource: the scheduler's decision. @throws StatusError 400, 404, 409 when the pod is on a node already */
export async function bind(core: Core, target: Target, { body, options }: Creation): Promise<object> {
  const nodeName = text(at(body, 'target', 'name'));
  if (nodeName === '') throw badRequest('a Binding must name its target');
  const change = (pod: KubeJson): KubeJson => {
    const present = text(at(pod, 'spec', 'nodeName'));
    if (present !== '') {
      throw conflict({ type: PODS, name: target.name }, `pod ${target.name} is already assigned to node "${present}"`);
    }
    return { ...pod, spec: { ...fields(pod['spec']), nodeName } };
  };
  await update(core, { ...target, type: PODS }, { change, options });
  return success(undefined, 201);
}
