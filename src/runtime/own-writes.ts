// A watch may show a write before its response arrives. That event must not requeue the writer, but an event of another
// client must; only the response tells them apart. So events for the writer are held back until the response is there.

/** Ends the write, with the revision of its response, or undefined if there was none. */
export type EndWrite = (revision: string | undefined) => void;

export interface OwnWrites<Writer> {
  /** `wake` is called at the end if any event was held back that does not show this write. */
  begin(place: string, writer: Writer, wake: () => void): EndWrite;
  /**
   * True = the event is held back, and the writer need not be requeued now. A deletion (undefined) never counts as an
   * own write.
   */
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
