import Attache
import AttacheTesting
import Foundation
import Testing

/// Rehearsing an app's delegate: what is told of its findings, and what it shares with an extension.
@Suite(.timeLimit(.minutes(5)), .serialized)
struct DelegateRehearsalTests {
  private static var delegate: ExtensionBuilder.Options {
    var options = ExtensionBuilder.Options()
    options.kind = .appDelegate
    return options
  }

  private func rehearsal(_ fixture: String) throws -> ExtensionRehearsal {
    var rehearsal = ExtensionRehearsal(program: try BuiltExtensions.program("Delegates/" + fixture, Self.delegate))
    rehearsal.kind = .appDelegate
    return rehearsal
  }

  private func findings(_ rehearsal: ExtensionRehearsal, _ situation: String) async throws -> [Finding] {
    let situations = (rehearsal.kind == .appDelegate ? ExtensionSituation.silent : ExtensionSituation.all).filter { $0.name == situation }
    try #require(situations.count == 1)
    let results = await rehearsal.run(situations, file: "", report: { _ in }, began: { _ in })
    return results.flatMap { $0.findings + $0.warnings }
  }

  @Test func `a task with a handler in a background session ends the app with Apple's words`() async throws {
    let message = try await findings(rehearsal("BackgroundBlock.swift"), "background-download").first?.message ?? ""
    #expect(message.contains("Completion handler blocks are not supported in background sessions"), "\(message)")
  }

  @Test func `a lost download is told with its session and its URL`() async throws {
    let message = try await findings(rehearsal("BackgroundLost.swift"), "background-download").first?.message ?? ""
    #expect(message.contains("did not create the session again (com.example.media)") && message.contains("/clip.mp4"), "\(message)")
  }

  @Test func `in a burst, the findings name the pushes`() async throws {
    let pushes = try await findings(rehearsal("KeepsOneHandler.swift"), "silent-burst").compactMap(\.payload)
    #expect(!pushes.isEmpty && Set(pushes).count == pushes.count && pushes.allSatisfy { (1...4).contains($0) }, "\(pushes)")
  }

  @Test(arguments: ["10", "5", nil])
  func `a silent push of priority 10 is a finding; with an alert it is not`(priority: String?) async throws {
    let payload = #"{"aps":{"alert":"Hi","content-available":1},"image":"https://a.example/b"}"#
    let headers = priority.map { #""headers":{"apns-priority":"\#($0)"},"# } ?? ""
    let line = #"{"message":{"token":"t","apns":{\#(headers)"payload":\#(payload)}}}"#
    var rehearsal = try rehearsal("Careful.swift")
    rehearsal.payload = try RehearsalPayload(line: Array(line.utf8))
    let (silent, alert) = (try await findings(rehearsal, "silent"), try await findings(rehearsal, "silent-with-alert"))
    #expect(silent.map(\.kind) == (priority == "10" ? [.silentPriority] : []) && alert.isEmpty, "\(silent) \(alert)")
  }

  @Test func `alert and content-available are played in all combinations, with the payload's own content`() throws {
    let line = #"{"aps":{"alert":{"body":"Hi"},"badge":3},"order":[{"id":7}],"image":"https://a.example/b"}"#
    let payload = try RehearsalPayload(line: Array(line.utf8))
    func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
    #expect(
      text(payload.silent("http://o/p", hasAlert: false)) == #"{"aps":{"content-available":1},"image":"http://o/p","order":[{"id":7}]}"#)
    #expect(
      text(payload.silent("http://o/p", hasAlert: true))
        == #"{"aps":{"alert":{"body":"Hi"},"content-available":1},"image":"http://o/p","order":[{"id":7}]}"#)
    #expect(text(payload.silent(nil, hasAlert: false)) == #"{"aps":{"content-available":1}}"#)
  }

  @Test(arguments: [
    "", "[1]", "7", #"{"notifications":[{"tokens":["a"],"platform":1,"message":"x"},{"tokens":["b"],"platform":1,"message":"y"}]}"#,
  ])
  func `what is no payload and no envelope with one is refused`(line: String) {
    #expect(throws: RehearsalPayload.Refusal.self) { try RehearsalPayload(line: Array(line.utf8)) }
  }

  @Test func `an app finds what its extension left in the group, the defaults and the keychain`() async throws {
    let folder = NSTemporaryDirectory() + "attache-groups-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    var app = try rehearsal("ReadsGroup.swift")
    app.groups = folder
    #expect(try await findings(app, "silent-plain").map(\.kind) == [.silentNever])
    var service = ExtensionRehearsal(program: try BuiltExtensions.program("WritesGroup.swift"))
    service.groups = folder
    #expect(try await findings(service, "ok").isEmpty)
    let found = try await findings(app, "silent-plain")
    #expect(found.isEmpty, "\(found)")
  }

  @Test func `a delegate in the file of a SwiftUI app is refused with the way out`() throws {
    let app = """
      import SwiftUI
      import UIKit

      class AppDelegate: NSObject, UIApplicationDelegate {}

      @main
      struct CoffeeApp: App {
        @UIApplicationDelegateAdaptor(AppDelegate.self) var delegate
        var body: some Scene { WindowGroup { Text("Hi") } }
      }
      """
    let error = try #require(throws: ExtensionBuildError.self) { try BuiltExtensions.build(["CoffeeApp.swift": app], Self.delegate) }
    #expect("\(error)".contains("CoffeeApp.swift is the file of a SwiftUI app") && "\(error)".contains("a file of its own"), "\(error)")
    let delegate = "import UIKit\n\n// For @UIApplicationDelegateAdaptor.\nclass AppDelegate: NSObject, UIApplicationDelegate {}\n"
    let rest = app.replacingOccurrences(of: "class AppDelegate: NSObject, UIApplicationDelegate {}", with: "")
    _ = try BuiltExtensions.build(["CoffeeApp.swift": rest, "AppDelegate.swift": delegate], Self.delegate)
  }
}
