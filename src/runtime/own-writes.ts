// A watch may report a write before its response does. The writer must not be woken by that, and must not miss what others did meanwhile; only
// the answer tells the two apart. So what would wake a writer is kept until the answer is there.

/** Ends the write: with the revision of its answer, or with undefined if there is none. */
export type EndWrite = (revision: string | undefined) => void;

export interface OwnWrites<Writer> {
  /** `wake` is called at the end if anything was kept that was not this write. */
  begin(place: string, writer: Writer, wake: () => void): EndWrite;
  /** True = kept: the writer need not be woken now. A deleted object (undefined) is never an own write. */
  keeps(place: string, revision: string | undefined, isWriter: (writer: Writer) => boolean): boolean;
}

interface Write<Writer> {
  readonly writer: Writer;
  readonly heard: Set<string>;
}

export function createOwnWrites<Writer>(): OwnWrites<Writer> {
  const underWay = new Map<string, Set<Write<Writer>>>();
  return {
    begin(place, writer, wake) {
      const write: Write<Writer> = { writer, heard: new Set() };
      const writes = underWay.get(place) ?? new Set();
      underWay.set(place, writes.add(write));
      return (revision) => {
        writes.delete(write);
        if (writes.size === 0) underWay.delete(place);
        if (revision !== undefined) write.heard.delete(revision);
        if (write.heard.size > 0) wake();
      };
    },
    keeps(place, revision, isWriter) {
      if (revision === undefined) return false;
      let isKept = false;
      for (const { writer, heard } of underWay.get(place) ?? []) {
        if (!isWriter(writer)) continue;
        heard.add(revision);
        isKept = true;
      }
      return isKept;
    },
  };
}
