import * as z from 'zod';
import { controllerEnv } from '../../runtime/controller/config.ts';
import { CHANNEL_NAMESPACE } from '../../runtime/api/k3os/names.ts';
import { flag, namespaceOrAny, textOf } from './fields.ts';
import { type Resources, resourceProps } from './resources.ts';

/** Nodes that run k3OS. */
export interface K3osProps {
  /**
   * Whether nodes labelled `k3os.io/mode` (not `live`) are updated as well, to what an UpdateChannel says, by an agent that is root on its host.
   * @default false
   */
  readonly enabled?: boolean;
  /** The namespace of the UpdateChannels. It has to be there. @default k3os-system */
  readonly namespace?: string;
  /** Address of GitHub's REST API, which is asked for releases. @default https://api.github.com */
  readonly releasesUrl?: string;
  /** Requests and limits of the agents of k3OS nodes: the host's k3os downloads a release in their container. @default 512Mi at most */
  readonly resources?: Resources;
}

/** The same with every default. */
export type K3osSettings = Required<Omit<K3osProps, 'resources'>> & { readonly resources: Required<Resources> };

const RESOURCES = { requests: { cpu: '10m', memory: '64Mi' }, limits: { memory: '512Mi' } };

/** @internal */
export const k3osProps = z.strictObject({
  enabled: flag.default(false),
  namespace: namespaceOrAny.default(CHANNEL_NAMESPACE),
  releasesUrl: textOf(controllerEnv.K3OS_RELEASES_URL),
  resources: resourceProps(RESOURCES),
} satisfies Record<keyof K3osProps, z.ZodType>);
