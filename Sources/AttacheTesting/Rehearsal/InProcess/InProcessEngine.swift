internal import Attache
internal import AttacheArguments

/// attache's engine in this process. It is assembled as `attache` does, but with the scenario's
/// service extension and machine.
struct InProcessEngine: Sendable {
  /// The reason why the engine does not start, with the exit status that `attache` would return.
  struct Refusal: Error {
    var status: Int32
    var reason: String
  }

  let filter: Filter
  let clock: MonotonicClock
  private let store: AttachmentStore
  private let assembly: FilterAssembly
  private let extensions: ScriptedExtensions

  init(_ options: FilterOptions, serviceExtension: ScriptedExtensionKind, network: FetchNetwork) throws(Refusal) {
    let (store, extensions) = (try Self.open(options), ScriptedExtensions(serviceExtension, machine: network.machine))
    do {
      assembly = try FilterAssembly(options, store: store, network: network, serviceExtension: { extensions.make(media: $0) })
    } catch {
      store.shutdown()
      throw Refusal(status: ExitStatus.software, reason: "\(error)")
    }
    (filter, clock) = (assembly.filter, assembly.engine.clock)
    (self.store, self.extensions) = (store, extensions)
  }

  private static func open(_ options: FilterOptions) throws(Refusal) -> AttachmentStore {
    do { return try options.engine.storage.open() } catch { throw Refusal(status: ExitStatus.cannotCreate, reason: "\(error)") }
  }

  /// Stops the threads. Do not call it while the filter runs.
  func shutdown() {
    extensions.release()
    assembly.engine.shutdown()
    store.shutdown()
  }
}
