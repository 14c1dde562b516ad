import type { Service } from '../../runtime/apiserver/service.ts';

/** The older implementation's apiserver compares no resourceVersions. */
export const asOlder = (service: Service): Service => ({
  ...service,
  putStatus: (put) => service.putStatus({ ...put, version: undefined }),
});
