import { channelOrders } from '../../../runtime/controller/k3os/channels.ts';
import { Collection } from '../../../runtime/kube/collection.ts';
import type { KubeObject } from '../../../runtime/kube/objects.ts';
import type { Clock } from '../../../runtime/lib/clock.ts';
import { unlessAborted } from '../../../runtime/lib/abort.ts';
import { channelsPath } from '../../../runtime/controller/seeing/orders.ts';
import type { Answer, Question } from '../../../runtime/api/k3os/answers.ts';
import { keyOf } from '../../../runtime/api/k3os/answers.ts';
import type { ChannelObject } from '../../../runtime/api/k3os/model.ts';
import { MODE_LABEL } from '../../../runtime/api/k3os/names.ts';
import { channelCrdSchema } from '../../../runtime/api/k3os/schema.ts';
import { MANAGED_LABEL, shadowName } from '../../../runtime/api/shadow/names.ts';
import { channelCrd } from '../../channel-crd.ts';
import { Stage } from '../stage.ts';

export type Channel = KubeObject & Pick<ChannelObject, 'spec' | 'status'>;

/** A cluster of k3OS nodes that run v1.0.0, with channels, and a source of releases that says what it is told to. */
export class K3osStage {
  readonly stage: Stage;
  readonly channels: Collection<Channel>;
  /** What the source has been asked, in order. */
  readonly asked: string[] = [];
  /** What of it was asked while no channel showed whose turn it is: must stay empty. */
  readonly askedUnseen: string[] = [];
  /** What it answers; a promise that does not settle is a source that hangs. */
  answer: (question: Question) => Answer | Promise<Answer> = ({ tag }) => ({ kind: 'found', tag: tag ?? 'v1.1.0' });

  private constructor(stage: Stage) {
    this.stage = stage;
    this.channels = new Collection(stage.transport, channelsPath('k3os-system'));
  }

  static with(...names: readonly string[]): Promise<K3osStage> {
    return K3osStage.#build(names, channelCrd());
  }

  /** With the definition that the preview has left, which knows no conditions. */
  static preview(...names: readonly string[]): Promise<K3osStage> {
    const schema = structuredClone(channelCrdSchema()) as { properties: { status: { properties: object } } };
    const { conditions: _, ...properties } = schema.properties.status.properties as Record<string, unknown>;
    schema.properties.status.properties = properties;
    return K3osStage.#build(names, channelCrd(schema));
  }

  static async #build(names: readonly string[], definition: object): Promise<K3osStage> {
    const stage = await Stage.with(...names);
    await stage.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);
    await stage.create('/api/v1/namespaces', { metadata: { name: 'k3os-system' } });
    const k3os = new K3osStage(stage);
    for (const name of names) await k3os.#convert(name);
    return k3os;
  }

  async #convert(name: string): Promise<void> {
    const { stage } = this;
    await stage.patchNode(name, { metadata: { labels: { [MANAGED_LABEL]: null, [MODE_LABEL]: 'local' } } });
    await stage.patch(`/api/v1/nodes/${name}/status`, { status: { nodeInfo: { osImage: 'k3OS v1.0.0' } } });
    await stage.report(name, { target_version: '1.0.0' });
  }

  start(
    env: Readonly<Record<string, string>> = {},
    options: { readonly signal?: AbortSignal; readonly clock?: Clock } = {},
  ) {
    const ask = async (question: Question, signal: AbortSignal): Promise<Answer> => {
      const { items } = (await this.stage.transport.request({
        method: 'GET',
        path: channelsPath('k3os-system'),
      })) as { readonly items: readonly Channel[] };
      if (!items.some(({ status }) => status?.polling)) this.askedUnseen.push(keyOf(question));
      this.asked.push(keyOf(question));
      return unlessAborted(Promise.resolve(this.answer(question)), signal);
    };
    return this.stage.start({
      ...options,
      env: { K3OS_NAMESPACE: 'k3os-system', MAX_CONCURRENT_UPDATE: 'unlimited', ...env },
      ordersOf: (parts) => channelOrders(parts, { ask }),
    });
  }

  make(spec: object = {}, name = 'github-releases'): Promise<Channel> {
    const whole = { concurrency: 1, url: 'github-releases://rancher/k3os', version: 'v1.1.0', ...spec };
    const metadata = { name, namespace: 'k3os-system' };
    return this.channels.create({ apiVersion: 'k3os.io/v1', kind: 'UpdateChannel', metadata, spec: whole });
  }

  async patch(spec: object, name = 'github-releases'): Promise<void> {
    await this.channels.patch(name, { spec });
  }

  async channel(name = 'github-releases'): Promise<Channel> {
    return (await this.channels.get(name))!;
  }

  async reasons(name?: string): Promise<readonly string[]> {
    return (await this.channel(name)).status?.conditions?.map(({ type, reason }) => `${type} ${reason}`) ?? [];
  }

  /** What the channel's conditions say. */
  async said(): Promise<string> {
    return (await this.channel()).status?.conditions?.map(({ message }) => message).join('; ') ?? '';
  }

  /** Reason and message of the verdict on the node, as its shadow has it. */
  async verdict(node: string): Promise<string> {
    const shadow = await this.stage.shadows.get(shadowName(node));
    const condition = shadow?.status?.conditions?.find(({ type }) => type === 'UpToDate');
    return `${condition?.reason}: ${condition?.message}`;
  }

  pass(ms = 5000): Promise<void> {
    return this.stage.pass(ms);
  }
}
