import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SimOptions } from '../../lab/sim/options.ts';
import { outcomeOf } from '../../lab/sim/view/outcome.ts';
import { applyAll } from '../../lab/sim/world/manifests.ts';
import { workload } from '../../lab/sim/world/workload.ts';
import { certificatesIssued, type CertManager, startCertManager } from './cert-manager.ts';
import { type RealCluster, realCluster } from './cluster.ts';
import { type Fleet, type FleetOptions, startFleet } from './fleet.ts';
import { History } from './history.ts';
import { kubectl } from './kubectl.ts';

/** Folder of the operator's manifests. */
export const DIST = fileURLToPath(new URL('../../dist', import.meta.url));

/** Of a fleet, where a file of scenarios says nothing else. */
export const OPTIONS: SimOptions = {
  nodes: 5,
  concurrency: '1',
  from: '1.38.0',
  to: '1.39.0',
  speed: 10,
  faults: new Map(),
  keep: false,
};

/** What a scenario may wait for. */
export interface Outlook {
  /** `History.until`, which rejects when a part of the fleet fails meanwhile. */
  readonly until: <T>(check: (history: History) => T | undefined | false) => Promise<T>;
  /** Resolves when nothing more will happen to any node by itself. */
  readonly rolledOver: () => Promise<void>;
}

/** A fleet, a workload and the operator on a real control plane. */
export interface Scene extends Outlook {
  readonly cluster: RealCluster;
  readonly options: SimOptions;
  readonly fleet: Fleet;
  readonly history: History;
}

export function outlook(history: History, { failed }: { readonly failed: Promise<never> }, to: string): Outlook {
  const until: Outlook['until'] = (check) => Promise.race([history.until(check), failed]);
  const rolledOver = async (): Promise<void> => {
    await until(({ nodes, shadows }) => outcomeOf({ nodes, shadows }, to) === 'over');
  };
  return { until, rolledOver };
}

/** What a file of scenarios has running. Whatever is started through it ends with it. */
export class Stage {
  readonly cluster: RealCluster;
  #certManager: CertManager | undefined;
  #fleet: Fleet | undefined;
  readonly #watching = new AbortController();
  #watched: Promise<void> = Promise.resolve();

  private constructor(cluster: RealCluster) {
    this.cluster = cluster;
  }

  static async set(): Promise<Stage> {
    return new Stage(await realCluster());
  }

  /** cert-manager alone: the operator's manifests need its definitions. */
  async startCertManager(): Promise<void> {
    this.#certManager = await startCertManager(this.cluster);
  }

  /** cert-manager, the operator's manifests, and every certificate issued. No node is there to run it yet. */
  async installOperator(manifests = DIST): Promise<void> {
    if (!this.#certManager) await this.startCertManager();
    await kubectl('apply', '-f', manifests);
    await certificatesIssued();
  }

  /** The manifests of `dist/` where these variables have other values. @returns their file */
  async manifestsWith(values: Readonly<Record<string, string>>): Promise<string> {
    const file = join(this.cluster.dir, 'manifests.yaml');
    let manifests = await readFile(join(DIST, 'brupop.k8s.yaml'), 'utf8');
    for (const [name, value] of Object.entries(values)) {
      const others = manifests.replace(new RegExp(`(name: ${name}\\n +value: ).*`, 'g'), `$1${JSON.stringify(value)}`);
      if (others === manifests) throw new Error(`${name} is no variable of the manifests`);
      manifests = others;
    }
    await writeFile(file, manifests);
    return file;
  }

  /** Where a node that somebody else has cordoned takes a place for five seconds. */
  shortHold(): Promise<string> {
    return this.manifestsWith({ NOT_READY_HOLD_IN_SEC: '5' });
  }

  /** Boots the nodes, with a workload on them. */
  async startFleet(asked: Partial<FleetOptions> = {}): Promise<Scene> {
    const { cluster } = this;
    const options = { ...OPTIONS, ...asked };
    await applyAll(cluster.transport, workload(options));
    const history = new History();
    this.#watched = history.run(cluster.transport, this.#watching.signal);
    const fleet = await startFleet(cluster, options);
    this.#fleet = fleet;
    return { cluster, options, fleet, history, ...outlook(history, fleet, options.to) };
  }

  async strike(): Promise<void> {
    await this.#fleet?.stop();
    this.#watching.abort(new Error('the test is over'));
    await this.#watched;
    await this.#certManager?.stop();
  }
}
