import Attache
import Foundation
import Testing

/// A filter with a service extension of one's own, as the article `ChangingContent` shows it.
struct ContentTests {
  final class Greeter: ServiceExtension {
    static let returnsAtOnce = true

    func didReceive(_ request: NotificationRequest, answer: ExtensionReply) {
      var content = request.content
      content.title = "Message from Anna"
      content.badge = nil
      content.userInfo["seen"] = Array("false".utf8)
      answer.offer(.content(content))
    }
  }

  @Test func `the line has the changed members, and all other bytes as they were`() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = try AttachmentStore(directory: folder.path, maximumBytes: 1_000_000, maximumAge: .seconds(60))
    defer { store.shutdown() }
    let clock = try MonotonicClock()
    let host = ServiceExtensionHost(clock: clock, grace: .milliseconds(50)) { Greeter() }
    let filter = try Attache.Filter(Attache.FilterConfiguration(), host: host, store: store, clock: clock)
    let (input, output) = (Pipe(), Pipe())
    let silent = #"{"aps":{"content-available":1}}"#
    let line = #"{"aps":{"alert":"Hello","badge":2,"mutable-content":1}, "chat" : 7}"#
    try input.fileHandleForWriting.write(contentsOf: Data((silent + "\n" + line + "\n").utf8))
    try input.fileHandleForWriting.close()
    let result = try filter.run(
      input: input.fileHandleForReading.fileDescriptor, output: output.fileHandleForWriting.fileDescriptor)
    try output.fileHandleForWriting.close()
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    let changed = #"{"aps":{"alert":{"title":"Message from Anna","body":"Hello"},"mutable-content":1}, "chat" : 7,"seen":false}"#
    #expect(text == silent + "\n" + changed + "\n")
    #expect(result.isComplete)
  }
}
