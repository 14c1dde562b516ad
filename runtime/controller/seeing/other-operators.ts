import { ApiStatusError } from '../../kube/errors.ts';
import type { ClusterConnection } from '../../kube/in-cluster.ts';
import { withDeadline } from '../../lib/abort.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Wakeup } from '../../lib/wakeup.ts';
import { shadowsOf } from '../../api/resources.ts';
import type { ControllerConfig } from '../config.ts';
import { listed } from '../plan/facts/verdict.ts';

/** How often it is looked, besides before each start, while there is none, and while there is one. */
const LOOK_MS = 600_000;
const FOUND_MS = 30_000;
const READ_MS = 5000;

interface OtherOperatorsOptions extends ClusterConnection {
  readonly clock: Clock;
  readonly config: Pick<ControllerConfig, 'OTHER_OPERATORS'>;
  readonly wakeup: Pick<Wakeup, 'ring'>;
}

/** In which other namespaces an operator has shadows. @param namespace of this one */
export async function namespacesOfOthers(
  { transport, namespace }: Pick<OtherOperatorsOptions, 'transport' | 'namespace'>,
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const selectors = { fieldSelector: `metadata.namespace!=${namespace}` };
  const shadows = await shadowsOf(transport).list(selectors, signal);
  return [...new Set(shadows.flatMap(({ metadata }) => metadata.namespace ?? []))];
}

/** What was found, as a sentence; undefined where nothing was. */
export const othersText = (namespaces: readonly string[]): string | undefined =>
  namespaces.length === 0 ? undefined : `another operator has shadows in ${listed(namespaces)}`;

/**
 * Whether another operator has nodes here, by shadows in other namespaces: two agents share one host then, and two controllers keep a budget
 * each. The right to list all shadows is that of the storage migration.
 */
export class OtherOperators {
  readonly #options: OtherOperatorsOptions;
  #namespaces: readonly string[] = [];

  constructor(options: OtherOperatorsOptions) {
    this.#options = options;
  }

  /** What was found at the last look, as a sentence; undefined where nothing was, or people have said that it is meant. */
  get found(): string | undefined {
    return othersText(this.#namespaces);
  }

  /** Looks at once, and now and then, until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      await withDeadline({ clock, ms: READ_MS, signal }, (inner) => this.read(inner)).catch(() => undefined);
      await clock.sleep(this.#namespaces.length > 0 ? FOUND_MS : LOOK_MS, signal).catch(() => undefined);
    }
  }

  /** Looks now. What is not answered stays as it was; who may not look says nothing. */
  async read(signal: AbortSignal): Promise<void> {
    const { config, wakeup } = this.#options;
    if (config.OTHER_OPERATORS === 'ignore') return;
    const before = this.found;
    try {
      this.#namespaces = await namespacesOfOthers(this.#options, signal);
    } catch (error) {
      if (error instanceof ApiStatusError) this.#namespaces = [];
    }
    if (this.found !== before) wakeup.ring();
  }
}
