import Foundation
import Glibc
import Synchronization
import Testing

@testable import Attache
@testable import AttacheTesting

/// The processes of a service extension, by a real one.
@Suite(.timeLimit(.minutes(2)), .serialized)
struct ExtensionProcessesTests {
  private static let payload = Array(#"{"aps":{"alert":"Hello","mutable-content":1}}"#.utf8)

  /// Calls the extension, and waits for its end.
  private func call(_ processes: ExtensionProcesses) async -> (ExtensionCall?, ExtensionCall.End) {
    let box = Mutex<ExtensionCall?>(nil)
    let end = await withCheckedContinuation { continuation in
      let call = processes.call(identifier: "a", payload: Self.payload) { continuation.resume(returning: $0) }
      box.withLock { $0 = call }
    }
    return (box.withLock { $0 }, end)
  }

  private static func descriptors() throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
  }

  /// The children of this process that have ended and that nobody has waited for.
  private static func zombies() -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return names.filter { name in
      guard Int(name) != nil, let stat = try? String(contentsOfFile: "/proc/\(name)/stat", encoding: .utf8) else { return false }
      let fields = stat.split(separator: ")").last?.split(separator: " ") ?? []
      return fields.count > 1 && fields[0] == "Z" && fields[1] == "\(getpid())" && stat.contains("(Extension)")
    }
  }

  @Test func `processes that end leave no descriptor and no zombie behind`() async throws {
    let processes = try ExtensionProcesses(.init(program: BuiltExtensions.program("Hostile/Traps.swift")))
    // Calls that are kept must keep no process.
    var calls: [ExtensionCall?] = []
    var before = 0
    for number in 0..<12 {
      if number == 2 { before = try Self.descriptors() }
      let (call, end) = await call(processes)
      guard case .failed(.extensionCrash) = end else { return #expect(Bool(false), "\(end)") }
      calls.append(call)
    }
    let after = try Self.descriptors()
    #expect(after < before + 4, "\(before), then \(after)")
    processes.shutdown()
    // The kernel lists a child until it is taken down.
    while !Self.zombies().isEmpty, !Task.isCancelled { await Task.yield() }
    #expect(calls.count == 12)
  }

  @Test func `a notification leaves nothing in the host`() async throws {
    let folder = NSTemporaryDirectory() + "attache-store-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let store = try AttachmentStore(directory: folder, maximumBytes: 1_000_000, maximumAge: .seconds(60))
    defer { store.shutdown() }
    let clock = try MonotonicClock()
    for fixture in ["Answers/Template.swift", "Hostile/Traps.swift"] {
      weak var served: ProcessExtension?
      let program = try ExtensionProgram(at: BuiltExtensions.program(fixture), store: store)
      do {
        let instance = ProcessExtension(program)
        served = instance
        let host = ServiceExtensionHost(clock: clock, grace: .milliseconds(50)) { instance }
        _ = await host.run(Self.request(clock))
      }
      // The loops have ended then, with all that they held.
      program.shutdown()
      #expect(served == nil, "\(fixture)")
    }
  }

  private static func request(_ clock: MonotonicClock) -> NotificationRequest {
    let line = #"{"aps":{"alert":{"title":"A","body":"B"},"mutable-content":1}}"#
    let splice = Splice(payload: 0..<line.utf8.count)
    let payload = Payload(content: NotificationContent(title: "A", body: "B"), references: [], dialect: nil, splice: splice)
    return NotificationRequest(identifier: "1", payload: payload, deadline: clock.now.advanced(by: .seconds(20)))
  }

  @Test func `a host of the library serves with an iOS extension`() async throws {
    let folder = NSTemporaryDirectory() + "attache-store-\(UUID().uuidString)"
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let store = try AttachmentStore(directory: folder, maximumBytes: 1_000_000, maximumAge: .seconds(60))
    defer { store.shutdown() }
    let clock = try MonotonicClock()
    let program = try ExtensionProgram(at: BuiltExtensions.program("Answers/Template.swift"), store: store)
    let host = ServiceExtensionHost(clock: clock, grace: .milliseconds(50)) { program.makeExtension() }
    let result = await host.run(Self.request(clock))
    #expect(result.content?.title == "A [modified]" && result.reason == nil)
    program.shutdown()
    #expect(throws: StartError.self) { try ExtensionProgram(at: "Service.swift", store: store) }
    #expect(throws: StartError.self) { try ExtensionProgram(at: folder, store: store) }
  }
}
