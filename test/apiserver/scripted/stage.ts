import { afterEach } from '@jest/globals';
import type { Agent } from '../../../runtime/apiserver/auth/authenticator.ts';
import { createApiserver } from '../../../runtime/apiserver/apiserver.ts';
import type { Preflight } from '../../../runtime/apiserver/config.ts';
import type { Service } from '../../../runtime/apiserver/service.ts';
import type { WatchEvent } from '../../../runtime/kube/transport.ts';
import { silentLogger } from '../../../runtime/lib/log.ts';
import type { Random } from '../../../runtime/lib/random.ts';
import { NAMESPACE } from '../../../runtime/shadow/names.ts';
import { settle, VirtualClock } from '../../../sim/clock.ts';
import { Tapped } from '../../kube/world.ts';
import { started } from '../world.ts';
import { type AnyOrder, type Call, ScriptedApi } from './api.ts';
import { begins, cordoned, evicts, follows, pod, PODS } from './scenario.ts';

export type Script = readonly (Call | AnyOrder)[];

/** A replica of the apiserver that plays in a scene. */
export interface Replica {
  readonly service: Service;
  readonly tap: Tapped;
  /** A request for the agent. @param gone aborts when its client is gone */
  readonly drain: (gone?: AbortSignal) => Promise<void>;
}

/** The agent of one node, and an API that answers as its script has it, to every replica that asks. */
export class Scene {
  readonly api = new ScriptedApi();
  readonly clock = new VirtualClock();
  readonly agent: Agent = { nodeName: 'n1', nodeUid: 'uid-n1', bootId: 'boot-1' };
  readonly #random = fresh();

  constructor(...script: Script) {
    this.api.expects(...script);
  }

  replica(preflight: Preflight = 'warn'): Replica {
    const tap = new Tapped(this.api);
    const { service } = createApiserver({
      transport: tap,
      namespace: NAMESPACE,
      config: {
        DRAIN_TIMEOUT_IN_SEC: 50,
        DRAIN_PREFLIGHT: preflight,
        MAX_CONCURRENT_EVICTIONS: 5,
        VOLUME_DETACH_TIMEOUT_IN_SEC: 120,
        REQUIRE_CLIENT_CERTIFICATE: false,
      },
      clock: this.clock,
      random: this.#random,
      logger: silentLogger,
      instance: 'scripted',
    });
    return { service, tap, drain: (gone) => started(service.cordonAndDrain(this.agent, gone)) };
  }

  /** Who watches the pods is told. */
  async tells(type: WatchEvent['type'], object: object): Promise<void> {
    this.api.tell(PODS, { type, object });
    await settle();
  }

  /** Who watches the pods is told that they are gone. */
  async gone(...names: readonly string[]): Promise<void> {
    for (const name of names) await this.tells('DELETED', pod(name));
  }
}

/** The scenes of a file. Each has to be played to the end of its script before the next one, and before the end of its test. */
export class Stage {
  #scene: Scene | undefined;

  constructor() {
    afterEach(() => this.#ends());
  }

  get scene(): Scene {
    if (!this.#scene) throw new Error('the stage is set by the first script');
    return this.#scene;
  }

  sets(...script: Script): Scene {
    this.#ends();
    this.#scene = new Scene(...script);
    return this.#scene;
  }

  /** A drain by one replica. */
  drains(...script: Script): Promise<void> {
    return this.sets(...script)
      .replica()
      .drain();
  }

  /** A drain by one replica of one pod, `web-1`, whose eviction is accepted. */
  drainsOnePod(): Promise<void> {
    const web = pod('web-1');
    return this.drains(...begins(web), [...follows(cordoned('n2'), web), evicts('web-1')]);
  }

  #ends(): void {
    const scene = this.#scene;
    this.#scene = undefined;
    scene?.api.end();
  }
}

/** Next to no jitter, and yet no number twice: identities differ. */
function fresh(): Random {
  let calls = 0;
  return () => 0.5 - calls++ * 1e-9;
}
