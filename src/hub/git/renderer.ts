// Renders files other than plain YAML with programs that the hub runs. main/git implements it; simulated worlds have
// none.
import type { KubeObject } from '../../api/object.ts';
import type { JsonObject } from '../../base/json.ts';

export interface RenderFile {
  /** Relative to the directory of the bundle. */
  readonly path: string;
  readonly text: string;
}

export interface HelmRun {
  /** The directory of the chart, relative to that of the bundle. */
  readonly chart: string;
  readonly releaseName: string;
  readonly namespace: string;
  readonly values: JsonObject;
  /** Files of the bundle, of which the last wins; `values` override all of them. */
  readonly valuesFiles: readonly string[];
}

export interface Renderer {
  /** `kubectl kustomize` on a directory of the bundle: manifests as YAML. Throws a RenderError. */
  kustomize(files: readonly RenderFile[], directory: string): Promise<string>;
  /** `helm template` on a chart of the bundle: manifests as YAML. Throws a RenderError. */
  helm(files: readonly RenderFile[], run: HelmRun): Promise<string>;
  /** A strategic merge patch; for custom kinds a merge patch. */
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
