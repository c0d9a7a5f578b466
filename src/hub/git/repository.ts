// A Git repository as the hub sees it: where a ref points, and the files of a commit. main/git implements it with the
// git program or, if there is none, with a library; simulated worlds have their own.

export interface GitSource {
  readonly url: string;
  /** Empty = the default branch. `revision` is a commit or a tag. */
  readonly branch?: string;
  readonly revision?: string;
  readonly credentials?: GitCredentials;
  /** PEM. */
  readonly caBundle?: string;
  readonly insecureSkipTLSVerify?: boolean;
}

export type GitCredentials =
  | { readonly type: 'basic'; readonly username: string; readonly password: string }
  | { readonly type: 'ssh'; readonly privateKey: string; readonly knownHosts: string };

export interface GitFile {
  readonly path: string;
  /** Equal ids mean equal contents. */
  readonly id: string;
  readonly kind: 'file' | 'link' | 'module';
  readonly size: number;
  /** undefined = not requested, too large, or not text. */
  readonly text?: string;
}

export interface GitClient {
  /** Resolves the ref on the remote and fetches the commit; `known` is available already. */
  fetch(source: GitSource, known: string | undefined, signal: AbortSignal): Promise<string>;
  /** The commit that was fetched last, if it is still on disk: a restart needs no network. */
  kept(source: GitSource): Promise<string | undefined>;
  /** All files of a commit, with the text of those that `reads` accepts. */
  files(
    source: GitSource,
    commit: string,
    reads: (path: string) => boolean,
    signal: AbortSignal,
  ): Promise<readonly GitFile[]>;
}

export type GitReason =
  | 'RefNotFound'
  | 'FetchFailed'
  | 'TimedOut'
  | 'RepositoryTooLarge'
  | 'ProgramMissing'
  | 'ProtocolRefused'
  | 'SecretNotFound'
  | 'SecretInvalid';

/** Why a repository could not be read. The message never contains credentials. */
export class GitError extends Error {
  override readonly name = 'GitError';
  readonly reason: GitReason;

  constructor(reason: GitReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
