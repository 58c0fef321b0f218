import AttacheTesting
import Foundation
import Glibc
import Testing

@testable import Attache

/// The output and the report of a filter run.
struct FilterRun {
  var input: [String]
  var output: [String]
  /// In the order of the lines.
  var records: [ReportLine]
  var result: Attache.Filter.Result

  /// The lines that were passed to `write` after their deadline.
  var late: [ReportLine] {
    records.filter { $0.latenessMs.map { $0 > 0 } == true }
  }

  /// The member that the line gained, if it is the original with one member before its last brace.
  func attachments(ofLine number: Int) throws -> [GainedAttachment]? {
    let (before, after) = (input[number - 1], output[number - 1])
    guard after.hasPrefix(before.dropLast()), after.hasSuffix("}}"), after.count > before.count else { return nil }
    struct Line: Decodable {
      struct Member: Decodable { var attachments: [GainedAttachment] }
      var attache: Member
    }
    return try JSONDecoder().decode(Line.self, from: Data(after.utf8)).attache.attachments
  }
}

/// An attachment as the output names it.
struct GainedAttachment: Decodable, Equatable {
  var identifier: String
  var url: String
  var type: String
  var size: Int
  var sha256: String
  var source: String
}

extension FilterRun {
  /// A payload whose media are at `urls`.
  static func line(_ urls: String...) -> String {
    let members = zip(["image", "video-url", "audio", "mp4"], urls).map { #","\#($0)":"\#($1)""# }.joined()
    return #"{"aps":{"alert":"Hello","mutable-content":1}\#(members)}"#
  }

  /// Lets a filter read the lines from a file and write them to another.
  static func over(
    _ lines: [String], store: AttachmentStore, host: ServiceExtensionHost, clock: MonotonicClock,
    configure: (inout Attache.FilterConfiguration) -> Void = { _ in }
  ) async throws -> FilterRun {
    let folder = AttachmentStoreTestFolder()
    folder.write(Array(lines.map { $0 + "\n" }.joined().utf8), to: "in")
    var configuration = Attache.FilterConfiguration()
    configuration.report = folder["report"]
    configure(&configuration)
    let filter = try Attache.Filter(configuration, host: host, store: store, clock: clock)
    let input = unsafe open(folder["in"], O_RDONLY | O_CLOEXEC)
    let output = unsafe open(folder["out"], O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    try #require(input >= 0 && output >= 0)
    let result = try await filter.runOnThread(input: input, output: output).get()
    close(input)
    close(output)
    return FilterRun(
      input: lines, output: try text(folder.bytes("out")), records: try records(folder.bytes("report")), result: result)
  }

  private static func text(_ bytes: [UInt8]?) throws -> [String] {
    let lines = String(decoding: try #require(bytes), as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    return lines.dropLast().map(String.init)
  }

  private static func records(_ bytes: [UInt8]?) throws -> [ReportLine] {
    try text(bytes).map { try ReportLine(parsing: $0.utf8) }.sorted { $0.line < $1.line }
  }
}

extension Attache.Filter {
  /// Runs on its own thread, since the caller's thread must not block.
  func runOnThread(input: Int32, output: Int32) async -> Swift.Result<Attache.Filter.Result, any Error> {
    await withCheckedContinuation { continuation in
      Foundation.Thread.detachNewThread {
        continuation.resume(returning: Swift.Result { try self.run(input: input, output: output) })
      }
    }
  }
}

extension FetchStage {
  /// Lets a filter with the media extension read the lines.
  func filter(
    _ lines: [String], deadline: Duration = .seconds(20), grace: Duration = .milliseconds(200), jobs: Int = 256,
    onExpiry: MediaExtension.ExpiryChoice = .original
  ) async throws -> FilterRun {
    let (fetcher, store) = (fetcher, store)
    let host = ServiceExtensionHost(clock: clock, grace: grace) { MediaExtension(fetcher: fetcher, store: store, onExpiry: onExpiry) }
    return try await FilterRun.over(lines, store: store, host: host, clock: clock) { configuration in
      configuration.deadline = deadline
      configuration.jobs = jobs
    }
  }
}
