export const HELP = `Usage: npm run lab -- controlplane [COMMAND]

Starts a real Kubernetes control plane on this machine: kube-apiserver, etcd, kube-controller-manager and kube-scheduler, without nodes,
and kwok, which runs nodes on paper: every Node that gets the label paper.brupop/power=on.
It prints a kubeconfig and runs until Ctrl-C, which leaves nothing behind. The programs are built from their Go modules once (go on the
PATH; about ten minutes on two cores), into $XDG_CACHE_HOME/brupop-controlplane; those in $KUBEBUILDER_ASSETS are used as they are.
KUBERNETES=oldest takes the oldest Kubernetes that is supported instead of the newest.

Commands:
  start                starts it (what happens without a command)
  exec PROGRAM [ARG]   starts it, runs the program with KUBECONFIG set and kubectl on the PATH, and ends with its exit code
  build                only builds the programs, and prints where kubectl is
  --help               prints this

Everything runs in namespaces of its own (see the script "isolated"): a webhook can be reached by the API server at the address
10.255.255.1, given as the endpoint of its Service.
`;

export type Command =
  | { readonly kind: 'help' }
  | { readonly kind: 'build' }
  | { readonly kind: 'start' }
  | { readonly kind: 'exec'; readonly program: string; readonly args: readonly string[] }
  | { readonly kind: 'unknown'; readonly fault: string };

/** What the arguments of `npm run lab -- controlplane` ask for. */
export function parseCommand([name = 'start', program, ...args]: readonly string[]): Command {
  if (name === 'exec') {
    return program === undefined
      ? { kind: 'unknown', fault: 'exec: expected a program' }
      : { kind: 'exec', program, args };
  }
  if (program !== undefined) return { kind: 'unknown', fault: `${name}: expected no more arguments, got ${program}` };
  if (name === '--help' || name === '-h') return { kind: 'help' };
  if (name === 'start' || name === 'build') return { kind: name };
  return { kind: 'unknown', fault: `expected start, exec, build or --help, got ${name}` };
}
