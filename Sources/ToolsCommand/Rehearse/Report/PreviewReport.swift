internal import ArgumentParser
internal import Attache
internal import AttacheTesting
internal import Foundation

/// The page of `--preview`: the notifications of each scenario or situation, before and after. `attache preview`
/// draws it, from files such as a run of the filter leaves.
struct PreviewReport: RehearsalReport {
  private let path: String

  /// A line of the report that `attache preview` reads.
  private struct Line: Encodable {
    var line: Int
    var outcome: String
    var reason: String?
    var scenario: String
    var expected: String?
    var deviations: [String]
    /// `attache preview` needs it.
    var media: [String] = []
  }

  init(_ path: String) {
    self.path = path
  }

  mutating func end(_ results: [ScenarioResult], elapsed: Duration) throws(ReportFailure) {
    do {
      try write(results)
    } catch let failure as ReportFailure {
      throw failure
    } catch let failure as StageError {
      throw ReportFailure(path: path, problem: failure.description)
    } catch {
      throw ReportFailure(path: path, problem: error.localizedDescription)
    }
  }

  private func write(_ results: [ScenarioResult]) throws {
    let folder = try StageFolder()
    defer { folder.remove() }
    var (input, output, report, number) = (Data(), Data(), Data(), 0)
    var media = ScenarioMedia(store: URL(fileURLWithPath: folder["store"]))
    for result in results {
      for (index, lines) in result.lines.enumerated() {
        number += 1
        input.append(contentsOf: lines.before + [UInt8(ascii: "\n")])
        output.append(contentsOf: (lines.after ?? lines.before) + [UInt8(ascii: "\n")])
        report.append(try JSONEncoder().encode(Self.line(number, index, lines, of: result)))
        report.append(UInt8(ascii: "\n"))
        for name in StoreName.names(in: lines.after ?? []) { try media.add(name, of: result) }
      }
    }
    func file(_ name: String, _ data: Data) throws -> String {
      try data.write(to: URL(fileURLWithPath: folder[name]))
      return folder[name]
    }
    try draw([
      "--report", file("report", report), "--input", file("input", input), file("rehearsal", output), "--store", media.store.path,
    ])
  }

  private static func line(_ number: Int, _ index: Int, _ lines: ScenarioResult.Lines, of result: ScenarioResult) -> Line {
    let payload = result.payloads.first { $0.line == index + 1 }
    let isFirst = index == 0
    return Line(
      line: number, outcome: lines.after == nil ? "lost" : payload?.outcome?.rawValue ?? "unknown", reason: payload?.reason?.rawValue,
      scenario: result.previewName, expected: result.scenario.expectation.text(ofLine: index),
      deviations: (result.findings + result.warnings).filter { $0.payload == index + 1 || ($0.payload == nil && isFirst) }
        .map { result.depth == .serviceExtension ? "\($0.kind.rawValue): \($0.message)" : $0.message })
  }

  private func draw(_ files: [String]) throws {
    do {
      try Preview.parse(files.dropLast(2) + ["-o", path, "--app", "Rehearsal", "--"] + files.suffix(2)).run()
    } catch {
      throw ReportFailure(path: path, problem: "attache preview ended with \(Preview.exitCode(for: error).rawValue)")
    }
  }
}

extension ScenarioResult {
  /// The scenario's name. A built-in situation has no file that says what happens in it.
  fileprivate var previewName: String {
    depth == .serviceExtension ? "\(scenario.name) (\(scenario.about))" : scenario.name
  }
}

extension ScenarioExpectation {
  /// Returns what is expected of a line, from 0, in words; nil if nothing is.
  fileprivate func text(ofLine line: Int) -> String? {
    let expected = payloads.count == 1 ? payloads.first : payloads.indices.contains(line) ? payloads[line] : nil
    guard let expected else { return nil }
    let attachments = expected.attachments.map { list in
      list.isEmpty ? "no attachment" : list.map { "\($0.type)\($0.size.map { ", \($0) bytes" } ?? "")" }.joined(separator: "; ")
    }
    let parts = [expected.outcome?.rawValue, expected.reason?.rawValue, attachments].compactMap { $0 }
    return parts.isEmpty ? nil : parts.joined(separator: " · ")
  }
}

/// The media of scenarios, by the hashes that attache's attachments have. The store of a scenario is
/// gone when the page is drawn.
private struct ScenarioMedia {
  let store: URL
  /// The files that a folder's scenarios may send, by hash.
  private var known: [String: [String: URL]] = [:]

  /// The maximum size of a file that is looked at, in bytes: a page contains no more.
  private static let maximumBytes = 20_000_000

  init(store: URL) {
    self.store = store
  }

  /// Puts a file of a scenario into the store. A file that no scenario sends, because attache
  /// converted it, is left out.
  mutating func add(_ name: String, of result: ScenarioResult) throws {
    let target = store.appendingPathComponent(name)
    guard !FileManager.default.fileExists(atPath: target.path) else { return }
    let hash = target.deletingPathExtension().lastPathComponent
    let (kept, source) = (result.media[name], result.depth == .serviceExtension ? nil : files(beside: result.scenario.file)[hash])
    guard kept != nil || source != nil else { return }
    try FileManager.default.createDirectory(at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
    if let kept { try Data(kept).write(to: target) } else if let source { try FileManager.default.copyItem(at: source, to: target) }
  }

  private mutating func files(beside scenario: String) -> [String: URL] {
    let folder = URL(fileURLWithPath: scenario).deletingLastPathComponent()
    if let files = known[folder.path] { return files }
    var files: [String: URL] = [:]
    for place in [folder, folder.appendingPathComponent("media"), folder.deletingLastPathComponent().appendingPathComponent("media")] {
      let content = try? FileManager.default.contentsOfDirectory(at: place, includingPropertiesForKeys: [.fileSizeKey, .isRegularFileKey])
      for file in content ?? [] {
        let values = try? file.resourceValues(forKeys: [.fileSizeKey, .isRegularFileKey])
        guard values?.isRegularFile == true, (values?.fileSize ?? .max) <= Self.maximumBytes, let data = try? Data(contentsOf: file) else {
          continue
        }
        files[SHA256.hash(Array(data)).hexadecimal()] = file
      }
    }
    known[folder.path] = files
    return files
  }
}
