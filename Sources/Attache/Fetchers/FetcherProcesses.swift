internal import Synchronization

/// The fetchers of a host: their shared state on the host's side, the loop that receives their
/// replies, and the parent that starts them if they are processes.
final class FetcherProcesses: Sendable {
  let links: [FetcherLink]
  private let pool: FetcherPool

  var loop: EventLoop { pool.loop }
  /// Whether no process can be started any more.
  var isBroken: Bool { pool.isBroken.load(ordering: .relaxed) }

  init(
    _ memory: FetchMemory, count: Int, shared: FetcherMemory, parent: FetcherParent? = nil, clock: MonotonicClock?,
    notify: @escaping @Sendable (FetcherNotice) -> Void = { _ in }
  ) throws(StartError) {
    do throws(SystemError) {
      let loop = try EventLoop(name: "answer", machine: memory.machine, isOverdue: { clock?.isOverdue == true })
      pool = FetcherPool(loop: loop, memory: memory, shared: shared, parent: parent, count: count, notify: notify)
    } catch {
      throw StartError("\(error)")
    }
    links = (0..<count).map { [pool] in FetcherLink($0, of: pool) }
    if parent != nil { pool.loop.post { [links, pool] in pool.watchParent(links) } }
  }

  /// Ends the processes and the loop.
  func shutdown() {
    pool.parent?.stop()
    pool.loop.stop()
    pool.finishNotices()
  }
}
