// What makes objects of files besides plain YAML: programs that the hub runs. main/git implements it; a world without programs has none.
import type { KubeObject } from '../../api/object.ts';
import type { JsonObject } from '../../base/json.ts';

export interface RenderFile {
  /** From the directory of the bundle. */
  readonly path: string;
  readonly text: string;
}

export interface HelmRun {
  /** Directory of the chart, from that of the bundle. */
  readonly chart: string;
  readonly releaseName: string;
  readonly namespace: string;
  readonly values: JsonObject;
  /** Files of the bundle, the last one wins; `values` win over all. */
  readonly valuesFiles: readonly string[];
}

export interface Renderer {
  /** `kubectl kustomize` of a directory of the bundle: manifests as YAML. Throws a RenderError. */
  kustomize(files: readonly RenderFile[], directory: string): Promise<string>;
  /** `helm template` of a chart of the bundle: manifests as YAML. Throws a RenderError. */
  helm(files: readonly RenderFile[], run: HelmRun): Promise<string>;
  /** A strategic merge patch; a merge patch for kinds that are not built in. */
  patched(object: KubeObject, patch: JsonObject): KubeObject;
}

export type RenderReason = 'ProgramMissing' | 'RenderFailed' | 'TimedOut';

export class RenderError extends Error {
  override readonly name = 'RenderError';
  readonly reason: RenderReason;

  constructor(reason: RenderReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
