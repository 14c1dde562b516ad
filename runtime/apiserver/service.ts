import type { ShadowObject } from '../api/resources.ts';
import type { Status } from '../api/shadow/model.ts';
import type { VerifiedAgent } from './auth/authenticator.ts';
import type { DrainSettings } from '../drain/drain.ts';
import { lookForDisplaced } from './drain/displaced.ts';
import { DrainEngine } from './drain/engine.ts';
import { excludeFromLb, removeExclusionFromLb, uncordon } from './node-service.ts';
import type { Ports } from './ports.ts';
import { lookAtWorkloads } from './workloads/look.ts';
import { createShadow, putStatus, type StatusReport } from './shadow-service.ts';

/**
 * What the apiserver does for agents that have proven who they are. HTTP is a thin layer over it.
 * Every method throws RefusedError, or the transport's errors where the Kubernetes API fails.
 */
export interface Service {
  createShadow(agent: VerifiedAgent): Promise<ShadowObject>;
  putStatus(report: StatusReport): Promise<Status>;
  /**
   * @param gone aborts when nobody waits for the answer any more; the drain then continues until the agent's next request may have come
   * @param request identity of the request, for the log
   */
  cordonAndDrain(agent: VerifiedAgent, gone?: AbortSignal, request?: string): Promise<void>;
  uncordon(agent: VerifiedAgent): Promise<void>;
  excludeFromLb(agent: VerifiedAgent): Promise<void>;
  removeExclusionFromLb(agent: VerifiedAgent): Promise<void>;
  /** Writes down which workloads that the node's drain has displaced are not back. */
  lookForDisplaced(agent: VerifiedAgent): Promise<void>;
  /** Says in its shadow whether pods are worse on the node than where it was not updated. */
  lookAtWorkloads(agent: VerifiedAgent): Promise<void>;
  /** Ends all drains of this replica; who waits for one is told to ask again. */
  close(): void;
  /** Resolves when every eviction that was asked for has been answered. */
  settled(): Promise<void>;
}

export function createService(ports: Ports, settings: DrainSettings): Service {
  const engine = new DrainEngine(ports, settings);
  return {
    createShadow: (agent) => createShadow(ports, agent),
    putStatus: (report) => putStatus(ports, report),
    cordonAndDrain: (agent, gone, request) => engine.drain(agent, { gone, request }),
    uncordon: (agent) => uncordon(ports, agent),
    excludeFromLb: (agent) => excludeFromLb(ports, { agent, settings }),
    removeExclusionFromLb: (agent) => removeExclusionFromLb(ports, agent),
    lookForDisplaced: (agent) => lookForDisplaced(ports, agent),
    lookAtWorkloads: (agent) => lookAtWorkloads(ports, agent),
    close: () => engine.close(),
    settled: () => engine.settled(),
  };
}
