import { parseArgs } from 'node:util';
import type { SimOptions } from '../sim/options.ts';

const MOST_NODES = 9;

export const HELP = `Usage: npm run lab -- cluster [OPTION]... [build]

Starts a real Kubernetes cluster on this machine: kube-apiserver, etcd, kube-controller-manager and kube-scheduler, and nodes with containerd, kubelet
and kube-proxy, each on a simulated Bottlerocket host that is offered a new version. CoreDNS and cert-manager run in it, and its nodes have
the operator's image, so that \`kubectl apply -f dist/\` is all that is left to do.
It prints a kubeconfig and runs until Ctrl-C, which leaves nothing behind. It needs root; programs are built and downloaded once (lab/cluster/README.md).

  --nodes N   nodes, 1 to ${MOST_NODES} (default 3)
  --speed N   how many times faster than life hosts download and reboot (default 10)
  --help      prints this

  build       only builds what it needs
`;

export type Command =
  | { readonly kind: 'help' }
  | { readonly kind: 'build' }
  | { readonly kind: 'start'; readonly options: SimOptions }
  | { readonly kind: 'wrong'; readonly fault: string };

const FLEET = { concurrency: '1', from: '1.38.0', to: '1.39.0', faults: new Map(), keep: true };

/** What the arguments of `npm run lab -- cluster --` ask for. */
export function parseCommand(args: readonly string[]): Command {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        nodes: { type: 'string', default: '3' },
        speed: { type: 'string', default: '10' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    if (values.help) return { kind: 'help' };
    const [verb, ...more] = positionals;
    if (more.length > 0 || (verb !== undefined && verb !== 'build'))
      return { kind: 'wrong', fault: `expected build or nothing, got ${positionals.join(' ')}` };
    return verb === 'build' ? { kind: 'build' } : start(values);
  } catch (error) {
    return { kind: 'wrong', fault: error instanceof Error ? error.message : String(error) };
  }
}

function start({ nodes, speed }: { readonly nodes: string; readonly speed: string }): Command {
  if (!/^[1-9]$/.test(nodes))
    return { kind: 'wrong', fault: `--nodes: expected a whole number from 1 to ${MOST_NODES}, got ${nodes}` };
  if (!(Number(speed) >= 0.1 && Number(speed) <= 100))
    return { kind: 'wrong', fault: `--speed: expected a number from 0.1 to 100, got ${speed}` };
  return { kind: 'start', options: { ...FLEET, nodes: Number(nodes), speed: Number(speed) } };
}
