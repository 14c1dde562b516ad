import { type Logger, silentLogger } from '../../../runtime/lib/log.ts';
import { ControlLoop } from './control-loop.ts';
import { Kubelet, type KubeletOptions } from './kubelet/kubelet.ts';

export interface KubernetesOptions extends Omit<KubeletOptions, 'nodeName' | 'labels'> {
  readonly signal: AbortSignal;
  /** Hears of requests of the controllers that were refused. @default silent */
  readonly log?: Logger;
}

/** The parts of Kubernetes around its API: controllers, scheduler and a kubelet per node. */
export interface Kubernetes {
  /** The kubelet of a node, made and started at the first call; its node is down until `boot`. */
  readonly kubelet: (nodeName: string, labels?: Readonly<Record<string, string>>) => Kubelet;
  /** Resolves when everything has stopped after the signal; rejects as soon as a part fails. */
  readonly stopped: Promise<void>;
}

/** Starts the controllers; kubelets start as they are asked for. All of it ends with the signal. */
export function startKubernetes({ signal, log = silentLogger, ...options }: KubernetesOptions): Kubernetes {
  const kubelets = new Map<string, Kubelet>();
  const running: Promise<void>[] = [];
  const stopped = Promise.withResolvers<void>();
  const keep = (part: Promise<void>): void => {
    running.push(part);
    part.catch(stopped.reject);
  };
  keep(new ControlLoop({ ...options, log }).run(signal));
  const start = (nodeName: string, labels: Readonly<Record<string, string>> = {}): Kubelet => {
    const kubelet = new Kubelet({ ...options, nodeName, labels });
    kubelets.set(nodeName, kubelet);
    keep(kubelet.run(signal));
    return kubelet;
  };
  const stop = (): void => void Promise.all(running).then(() => stopped.resolve(), stopped.reject);
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  return {
    kubelet: (nodeName, labels) => kubelets.get(nodeName) ?? start(nodeName, labels),
    stopped: stopped.promise,
  };
}
