import type { Random } from '../../../../runtime/lib/random.ts';
import type { WebhookDialer } from '../api.ts';
import { uuid } from '../ids.ts';
import { annotationFaults } from '../metadata-faults.ts';
import { at, fields, type KubeJson, list, type Meta, text, without } from '../object.ts';
import { internal } from '../status.ts';
import type { Crd, WebhookConversion } from './definition.ts';
import { withDefaults } from './shape.ts';

/** How long a webhook may take, milliseconds; the API server's own limit. */
const TIMEOUT_MS = 30_000;

/** Brings custom objects to the version they are asked for. */
export class Converter {
  readonly #random: Random;
  #dial: WebhookDialer | undefined;

  constructor(random: Random, dial: WebhookDialer | undefined) {
    this.#random = random;
    this.#dial = dial;
  }

  setWebhooks(dial: WebhookDialer): void {
    this.#dial = dial;
  }

  /**
   * `objects` in `version`. Answers at once unless the webhook has to be asked, so that a write that needs no conversion stays one step.
   * @throws StatusError 500, naming the webhook's fault
   */
  convert(crd: Crd, objects: readonly KubeJson[], version: string): readonly KubeJson[] | Promise<readonly KubeJson[]> {
    const desired = `${crd.group}/${version}`;
    if (objects.every((object) => object.apiVersion === desired)) return objects;
    if (crd.conversion.strategy === 'None') return objects.map((object) => ({ ...object, apiVersion: desired }));
    return this.#ask(crd, crd.conversion, { objects, desired });
  }

  async #ask(
    crd: Crd,
    webhook: WebhookConversion,
    { objects, desired }: { objects: readonly KubeJson[]; desired: string },
  ): Promise<readonly KubeJson[]> {
    const foreign = objects.filter((object) => object.apiVersion !== desired);
    const uid = uuid(this.#random);
    const request = { uid, desiredAPIVersion: desired, objects: foreign };
    const body = { kind: 'ConversionReview', apiVersion: 'apiextensions.k8s.io/v1', request };
    const answer = await this.#post(crd, webhook, body);
    const why = fault(answer, uid, foreign);
    if (why !== undefined) throw failed(crd, foreign, why);
    const schema = crd.versions.get(desired.slice(crd.group.length + 1))?.schema ?? {};
    const converted = list(at(answer, 'response', 'convertedObjects')).map((object, index) =>
      withMetaOf(foreign[index], withDefaults(schema, object) as KubeJson),
    );
    return objects.map((object) => (object.apiVersion === desired ? object : (converted.shift() ?? object)));
  }

  async #post(crd: Crd, { service, caBundle }: WebhookConversion, body: unknown): Promise<unknown> {
    const call = { service, body, timeoutMs: TIMEOUT_MS, ...(caBundle !== undefined && { caBundle }) };
    const url = `https://${service.name}.${service.namespace}.svc:${service.port}${service.path}?timeout=30s`;
    try {
      if (!this.#dial) throw new Error('no way to dial webhooks');
      return await this.#dial(call);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw failed(crd, fields(fields(body)['request'])['objects'] as readonly KubeJson[], `Post "${url}": ${why}`);
    }
  }
}

function failed(crd: Crd, objects: readonly KubeJson[], why: string): Error {
  return internal(`conversion webhook for ${objects[0]?.apiVersion ?? crd.group}, Kind=${crd.kind} failed: ${why}`);
}

/** Why the answer cannot be used, if it cannot. */
function fault(answer: unknown, uid: string, sent: readonly KubeJson[]): string | undefined {
  const response = fields(at(answer, 'response'));
  if (response['uid'] !== uid)
    return `expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response['uid'])}`;
  if (at(response, 'result', 'status') !== 'Success')
    return text(at(response, 'result', 'message')) || 'no reason given';
  const converted = list(response['convertedObjects']);
  if (converted.length !== sent.length) return `expected ${sent.length} converted objects, got ${converted.length}`;
  const [changed] = sent.flatMap((object, index) => identityFaults(object, converted[index]));
  if (changed !== undefined) return `invalid converted object: ${changed}`;
  const [cause] = converted.flatMap((object) => annotationFaults(textsOf(at(object, 'metadata', 'annotations'))));
  return cause && `${cause.field}: ${cause.message}`;
}

function textsOf(value: unknown): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(fields(value)).map(([key, one]) => [key, text(one)]));
}

/** A webhook changes labels and annotations, and nothing else of metadata. */
function withMetaOf(sent: KubeJson | undefined, converted: KubeJson): KubeJson {
  const { labels, annotations } = converted.metadata;
  const kept = without(fields(sent?.metadata), 'labels', 'annotations');
  return {
    ...converted,
    metadata: { ...kept, ...(labels && { labels }), ...(annotations && { annotations }) } as Meta,
  };
}

const IDENTITY = [
  ['name', 'name'],
  ['namespace', 'namespace'],
  ['UID', 'uid'],
] as const;

function identityFaults({ metadata }: KubeJson, converted: unknown): string[] {
  const differs = IDENTITY.filter(([, key]) => at(converted, 'metadata', key) !== metadata[key]);
  return differs.map(
    ([name, key]) => `must have the same ${name}: ${metadata[key]} != ${text(at(converted, 'metadata', key))}`,
  );
}
