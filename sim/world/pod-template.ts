import type { Pod } from '../../runtime/kube/objects.ts';

/** The parts of a pod's spec that say what its container runs, finds in its files and its environment, and is asked. */
export interface PodTemplate {
  readonly serviceAccountName?: string;
  readonly automountServiceAccountToken?: boolean;
  readonly nodeName?: string;
  readonly hostPID?: boolean;
  readonly securityContext?: { readonly fsGroup?: number };
  readonly containers: readonly Container[];
  readonly volumes?: readonly Volume[];
}

export interface Container {
  readonly name: string;
  readonly args?: readonly string[];
  readonly command?: readonly string[];
  readonly env?: readonly EnvEntry[];
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
  readonly resources?: { readonly limits?: { readonly memory?: string } };
  readonly startupProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly terminationMessagePath?: string;
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string; readonly readOnly?: boolean }[];
}

interface EnvEntry {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly fieldRef?: { readonly fieldPath: string } };
}

/** What is absent is as `probes.ts` has it, which are the API server's defaults. */
export interface Probe {
  readonly httpGet?: { readonly path?: string; readonly port: number | string };
  readonly initialDelaySeconds?: number;
  readonly periodSeconds?: number;
  readonly timeoutSeconds?: number;
  readonly failureThreshold?: number;
}

export interface Volume {
  readonly name: string;
  readonly secret?: { readonly secretName: string; readonly items?: Items; readonly defaultMode?: number };
  readonly projected?: { readonly sources: readonly ProjectedSource[]; readonly defaultMode?: number };
  readonly hostPath?: { readonly path: string };
}

export interface ProjectedSource {
  readonly serviceAccountToken?: TokenSource;
  readonly secret?: ObjectSource;
  readonly configMap?: ObjectSource;
  readonly downwardAPI?: {
    readonly items: readonly { readonly path: string; readonly fieldRef?: { readonly fieldPath: string } }[];
  };
}

export interface ObjectSource {
  readonly name: string;
  readonly items?: Items;
  /** Neither it nor any of the keys has to be there. @default false */
  readonly optional?: boolean;
}

export interface TokenSource {
  /** The API server's own where it is absent. */
  readonly audience?: string;
  /** @default 3600 */
  readonly expirationSeconds?: number;
  readonly path: string;
}

/** Keys that are taken, and the files that they become; without any, each key is a file. */
export type Items = readonly { readonly key: string; readonly path: string }[];

/** The one container of each pod of the operator. */
export function containerOf({ spec }: Pod): Container | undefined {
  return (spec as PodTemplate | undefined)?.containers[0];
}

/** The container's environment as its pod states it. */
export function podEnv(pod: Pod): Record<string, string> {
  const entries = containerOf(pod)?.env ?? [];
  return Object.fromEntries(
    entries.map((entry) => [entry.name, entry.value ?? fieldOf(pod, entry.valueFrom?.fieldRef?.fieldPath)]),
  );
}

/** What a downward reference reads, e.g. `spec.nodeName`; empty where there is no such text. */
export function fieldOf(pod: Pod, path: string | undefined): string {
  const value = path
    ?.split('.')
    .reduce<unknown>((inner, key) => (inner as Record<string, unknown> | undefined)?.[key], pod);
  return typeof value === 'string' ? value : '';
}
