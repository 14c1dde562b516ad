import { DNS_ADDRESS, POD_NETWORK } from '../network.ts';
import { PAUSE_IMAGE } from '../parts/images.ts';
import type { NodeTools } from '../tools.ts';

/** In TOML. Everything that is not said is as containerd has it; so are its folders. */
export function containerdConfig({ runc, plugins }: Pick<NodeTools, 'runc' | 'plugins'>): string {
  return `version = 3

[plugins.'io.containerd.cri.v1.images'.pinned_images]
sandbox = '${PAUSE_IMAGE}'

[plugins.'io.containerd.cri.v1.runtime']
# Who lacks CAP_SYS_RESOURCE cannot lower a score, and runc dies of it.
restrict_oom_score_adj = true
disable_apparmor = true

[plugins.'io.containerd.cri.v1.runtime'.cni]
bin_dirs = ['${plugins}']
use_internal_loopback = true

[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc]
runtime_type = 'io.containerd.runc.v2'
base_runtime_spec = '/etc/containerd/base.json'

[plugins.'io.containerd.cri.v1.runtime'.containerd.runtimes.runc.options]
BinaryName = '${runc}'
`;
}

/** Each pod hangs on a cable of its own, so that all that it sends is routed: a Service's address is found by it, on whichever node. */
export function cniConfig(podSubnet: string): object {
  const ipam = {
    type: 'host-local',
    // Forgotten with the pods at each boot.
    dataDir: '/run/cni',
    ranges: [[{ subnet: podSubnet }]],
    routes: [{ dst: '0.0.0.0/0' }],
  };
  return { cniVersion: '1.0.0', name: 'pods', plugins: [{ type: 'ptp', ipMasq: false, ipam }] };
}

/** @param cgroupRoot of the node, in every hierarchy */
export function kubeletConfig(cgroupRoot: string): object {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: '/etc/kubernetes/ca.crt' },
    },
    authorization: { mode: 'Webhook' },
    clusterDNS: [DNS_ADDRESS],
    clusterDomain: 'cluster.local',
    // What names this machine can resolve is not the pods' affair.
    resolvConf: '/etc/kubernetes/resolv.conf',
    containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
    cgroupDriver: 'cgroupfs',
    cgroupRoot,
    failCgroupV1: false,
    enforceNodeAllocatable: [],
    // The machine below is shared by all nodes: it is not theirs to clear.
    evictionHard: { 'memory.available': '0%', 'nodefs.available': '0%', 'imagefs.available': '0%' },
    imageGCHighThresholdPercent: 100,
    localStorageCapacityIsolation: false,
    makeIPTablesUtilChains: false,
    failSwapOn: false,
  };
}

/** @param kubeconfig file of it */
export function kubeProxyConfig(hostname: string, kubeconfig: string): object {
  return {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: 'iptables',
    hostnameOverride: hostname,
    clusterCIDR: POD_NETWORK,
    clientConnection: { kubeconfig },
    // The machine's own limits stay as they are.
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
  };
}

/** As a Bottlerocket host describes itself. */
export function osRelease(version: string, osImage: string): string {
  return `NAME=Bottlerocket\nID=bottlerocket\nVERSION_ID=${version}\nPRETTY_NAME="${osImage}"\n`;
}
