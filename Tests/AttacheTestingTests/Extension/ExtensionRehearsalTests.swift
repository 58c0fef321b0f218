import AttacheTesting
import Testing

/// The fixtures, each in the situations in which it shows what it does.
@Suite(.timeLimit(.minutes(5)), .serialized)
struct ExtensionRehearsalTests {
  /// A fixture, a situation, and the kinds of all findings there.
  struct Case: Sendable {
    var fixture: String
    var findings: [String: Set<Finding.Kind>]

    init(_ fixture: String, _ findings: [String: Set<Finding.Kind>]) {
      (self.fixture, self.findings) = (fixture, findings)
    }
  }

  static let cases = [
    Case(
      "Careful.swift",
      [
        "ok": [], "png": [], "plain": [], "bare": [], "bad-url": [], "wrong-type": [], "refused": [], "404": [], "page": [], "cut": [],
        "slow": [], "over-limit": [], "webp": [], "long-clip": [], "three-in-a-row": [], "four-at-once": [], "alert-text": [],
        "http": [],
      ]),
    Case(
      "Tutorial.swift",
      [
        "ok": [], "png": [.attachType], "404": [.attachErrorPage, .fetchStatus], "page": [.attachErrorPage], "webp": [.attachType],
        "slow": [.answerTwice, .answerChangedAfter, .fetchAfterExpiry, .filesLeft],
        "over-limit": [.fetchUnbounded, .attachRefused, .filesLeft],
        "four-at-once": [],
      ]),
    Case("Answers/NoAnswerWithoutMedia.swift", ["plain": [.answerAtExpiry], "ok": []]),
    Case("Answers/AnswersInElseOnly.swift", ["ok": [.answerAtExpiry], "plain": []]),
    Case("Answers/NoExpiry.swift", ["slow": [.answerNever, .fetchAfterExpiry], "ok": []]),
    Case("Answers/EmptyExpiry.swift", ["slow": [.answerNever, .fetchAfterExpiry]]),
    Case("Answers/SlowExpiry.swift", ["slow": []]),
    Case("Semaphore.swift", ["slow": [.answerTwice, .blocks, .fetchAfterExpiry], "ok": []]),
    Case("DataContentsOf.swift", ["long-clip": [.memory], "ok": []]),
    Case("TemporaryName.swift", ["ok": [.attachRefused]]),
    Case("RemoteURL.swift", ["ok": [.attachRefused]]),
    Case("HintAsType.swift", ["ok": [.attachHint]]),
    Case("ForcedUnwrap.swift", ["plain": [.crash], "ok": []]),
    Case("CrashInHandler.swift", ["refused": [.crash], "ok": []]),
    Case("Answers/EmptiesContent.swift", ["ok": [.answerEmpty]]),
    Case("KeptByStatic.swift", ["ok": [.leak]]),
    Case("Answers/Template.swift", ["ok": [.answerTemplate]]),
    Case("DateInUserInfo.swift", ["ok": [.userInfoUnserialisable]]),
    Case("CategoriesRace.swift", ["ok": [.categoriesRace]]),
    Case("AddsCategory.swift", ["ok": []]),
    Case("ReadsCategoriesTwice.swift", ["three-in-a-row": []]),
    Case("PlainHTTP", ["ok": [.fetchScheme], "http": [.fetchScheme]]),
    Case("PlainHTTPAllowed", ["ok": []]),
    Case("ShortTimeout.swift", ["slow": [], "ok": []]),
    Case("ShortTimeoutAsync.swift", ["slow": [], "ok": []]),
    Case("ActorAndTask.swift", ["ok": [], "404": [], "three-in-a-row": [], "four-at-once": []]),
    Case("ObjectiveCName.swift", ["ok": []]),
    Case("Logs.swift", ["ok": []]),
    Case("TwoFiles/NotificationService.swift", ["ok": []]),
    Case("ClassBetween/NotificationService.swift", ["ok": []]),
    Case("OverridesInit.swift", ["ok": []]),
    Case("PrincipalClass", ["ok": []]),
    Case("Localised", ["ok": []]),
    Case("GroupAndDefaults.swift", ["three-in-a-row": []]),
    Case("Communication.swift", ["ok": []]),
    Case("Picture.swift", ["ok": []]),
    Case("Package", ["ok": []]),
    Case("EndToEnd.swift", ["ok": [], "plain": []]),
    Case("Vendors/Firebase.swift", ["ok": [], "404": [], "slow": [.answerNever, .fetchAfterExpiry, .filesLeft]]),
    Case("Vendors/OneSignal.swift", ["ok": [], "404": [], "slow": [.answerTwice, .answerChangedAfter, .fetchAfterExpiry, .filesLeft]]),
    Case("Vendors/CleverTap.swift", ["404": []]),
    Case("Hostile/Traps.swift", ["ok": [.crash]]),
    Case("Hostile/Exits.swift", ["ok": [.crash]]),
    Case("Hostile/Allocates.swift", ["ok": [.memory]]),
    Case("Hostile/Floods.swift", ["ok": [.answerNever]]),
    Case("Hostile/IgnoresExpiry.swift", ["ok": [.answerNever]]),
    Case("Hostile/Forks.swift", ["ok": [.answerNever]]),
    Case("Hostile/WritesFrames.swift", ["ok": [.crash]]),
  ]

  @Test func `each fixture has the findings of its mistakes, and no others`() async throws {
    // The first build compiles the library.
    _ = try BuiltExtensions.program("Careful.swift")
    // Three at a time: they mostly wait.
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (index, test) in Self.cases.enumerated() {
        if index > 2 { try await group.next() }
        group.addTask { try await Self.check(test) }
      }
      try await group.waitForAll()
    }
  }

  private static func check(_ test: Case) async throws {
    let rehearsal = ExtensionRehearsal(program: try BuiltExtensions.program(test.fixture))
    let situations = ExtensionSituation.all.filter { test.findings[$0.name] != nil }
    try #require(situations.count == test.findings.count, "\(test.fixture)")
    let results = await rehearsal.run(situations, file: test.fixture, report: { _ in }, began: { _ in })
    for result in results {
      let found = result.findings + result.warnings
      #expect(Set(found.map(\.kind)) == test.findings[result.scenario.name], "\(test.fixture), \(result.scenario.name): \(found)")
      #expect(result.findings.allSatisfy { $0.kind.level == .error } && result.warnings.allSatisfy { $0.kind.level == .warning })
    }
  }

  @Test(arguments: [
    Case(
      "Careful.swift",
      [
        "silent": [], "silent-with-alert": [], "silent-plain": [], "silent-404": [], "silent-slow": [], "background-fetch": [],
        "silent-burst": [], "background-download": [],
      ]),
    Case(
      "Template.swift",
      [
        "silent": [], "silent-with-alert": [], "silent-plain": [], "silent-404": [], "background-fetch": [], "silent-burst": [],
        "background-download": [],
      ]),
    Case(
      "BackgroundSession.swift",
      ["silent": [], "silent-with-alert": [], "silent-404": [], "silent-slow": [], "silent-burst": [], "background-download": []]),
    Case("BackgroundAtLaunch.swift", ["background-download": []]),
    Case("BackgroundAsync.swift", ["background-download": []]),
    Case("BackgroundLost.swift", ["silent-plain": [], "background-download": [.backgroundLost]]),
    Case("BackgroundUnfinished.swift", ["silent-plain": [], "background-download": [.backgroundUnfinished]]),
    Case("BackgroundEarly.swift", ["background-download": [.backgroundHandler]]),
    Case("BackgroundAside.swift", ["background-download": [.backgroundHandler]]),
    Case("BackgroundBlock.swift", ["silent-plain": [], "background-download": [.crash]]),
    Case("KeepsOneHandler.swift", ["silent": [], "silent-burst": [.silentNever]]),
    Case("Async.swift", ["silent": [], "silent-plain": [], "silent-404": []]),
    Case("NeverCompletes.swift", ["silent": [], "silent-plain": [.silentNever], "silent-404": [.silentNewData]]),
    Case("CompletesTwice.swift", ["silent": [.silentTwice, .silentNewData, .silentAfter], "background-fetch": [.silentNewData]]),
    Case("SaysNoData.swift", ["silent": [.silentNoData], "silent-plain": []]),
  ])
  func `each delegate has the findings of its mistakes`(test: Case) async throws {
    var options = ExtensionBuilder.Options()
    options.kind = .appDelegate
    var rehearsal = ExtensionRehearsal(program: try BuiltExtensions.program("Delegates/" + test.fixture, options))
    rehearsal.kind = .appDelegate
    let situations = ExtensionSituation.silent.filter { test.findings[$0.name] != nil }
    try #require(situations.count == test.findings.count)
    for result in await rehearsal.run(situations, file: test.fixture, report: { _ in }, began: { _ in }) {
      let found = result.findings + result.warnings
      #expect(Set(found.map(\.kind)) == test.findings[result.scenario.name], "\(result.scenario.name): \(found)")
    }
  }

  @Test func `two pictures with one name are mixed up when they come at once`() async throws {
    let rehearsal = ExtensionRehearsal(program: try BuiltExtensions.program("FixedFileName.swift"))
    let situations = ExtensionSituation.all.filter { ["four-at-once", "three-in-a-row"].contains($0.name) }
    let results = await rehearsal.run(situations, file: "", report: { _ in }, began: { _ in })
    let (inARow, atOnce) = (results[0].findings + results[0].warnings, results[1].findings)
    #expect(inARow.isEmpty, "\(inARow)")
    #expect(atOnce.contains { $0.kind == .attachMismatch }, "\(atOnce)")
  }

  @Test func `a crash is told with its message, its file and its line`() async throws {
    let rehearsal = ExtensionRehearsal(program: try BuiltExtensions.program("ForcedUnwrap.swift"))
    let results = await rehearsal.run(ExtensionSituation.all.filter { $0.name == "plain" }, file: "", report: { _ in }, began: { _ in })
    let message = try #require(results.first?.findings.first?.message)
    #expect(message.contains("ForcedUnwrap.swift:14") && message.contains("Unexpectedly found nil"), "\(message)")
  }

  @Test func `strict warnings fail a situation`() async throws {
    var rehearsal = ExtensionRehearsal(program: try BuiltExtensions.program("Answers/Template.swift"))
    rehearsal.isStrict = true
    let results = await rehearsal.run(ExtensionSituation.all.filter { $0.name == "ok" }, file: "", report: { _ in }, began: { _ in })
    #expect(results.first?.passed == false)
  }
}
