import AttacheTesting
import Testing

@testable import Attache

/// The result of a request whose extension misbehaves, on a manual clock.
@Suite(.timeLimit(.minutes(1))) struct ExtensionHostTests {
  private static let better = ExtensionResult.content(NotificationContent(title: "Better", body: "Hello"))
  /// When the host decides for an extension that may block, and for one that returns immediately.
  private static let (lastMoment, notice) = (Duration.milliseconds(29_500), Duration.seconds(29))

  @Test func `what is offered at once is delivered at once`() async throws {
    let stage = HostStage(.init(receive: { _, answer in #expect(answer.offer(Self.better)) }))
    stage.run()
    await stage.waitForDelivery()
    #expect(stage.only?.delivery.content?.title == "Better")
    #expect(stage.elapsed == .zero)
    #expect(stage.clock.appointments == 0)
  }

  @Test func `one that never answers is told when time will expire, and gives the original before the deadline`() async {
    let (expired, cancelled) = (Event(), Event())
    let stage = HostStage(.init(expire: { _ in expired.happen() }, cancel: { cancelled.happen() }))
    stage.run()
    stage.clock.advance(by: Self.notice - .milliseconds(1))
    #expect(stage.delivered.isEmpty)
    stage.clock.advance(by: .milliseconds(1))
    await expired.wait()
    #expect(stage.delivered.isEmpty)
    stage.clock.advance(by: .milliseconds(500))
    await cancelled.wait()
    #expect(stage.only?.delivery.content == nil)
    #expect(stage.only?.delivery.reason == .deadline)
    #expect(stage.elapsed == Self.lastMoment)
    #expect(stage.clock.appointments == 0)
  }

  @Test func `the best attempt counts when it comes in the grace`() async {
    let received = Event()
    let stage = HostStage(.init(receive: { _, _ in received.happen() }, expire: { $0?.offer(Self.better) }))
    stage.run()
    await received.wait()
    stage.clock.advance(by: Self.notice)
    await stage.waitForDelivery()
    #expect(stage.only?.delivery.content?.title == "Better")
    #expect(stage.elapsed == Self.notice)
    stage.clock.advance(by: .seconds(5))
    #expect(stage.delivered.count == 1)
    #expect(stage.host.droppedOffers == 0)
  }

  @Test func `of two answers the first counts and the second is dropped`() async {
    let done = Event()
    let stage = HostStage(
      .init(receive: { _, answer in
        answer.offer(Self.better)
        #expect(!answer.offer(.original(.internal)))
        done.happen()
      }))
    stage.run()
    await done.wait()
    #expect(stage.only?.delivery.content?.title == "Better")
    #expect(stage.host.droppedOffers == 1)
  }

  @Test func `an answer that comes late is dropped`() async {
    let (held, done) = (HeldThread(), Event())
    let stage = HostStage(
      .init(receive: { _, answer in
        held.wait()
        #expect(answer.isDecided)
        #expect(!answer.offer(Self.better))
        done.happen()
      }))
    stage.run()
    stage.clock.advance(by: HostStage.budget)
    #expect(stage.only?.delivery.reason == .deadline)
    held.signal()
    await done.wait()
    #expect(stage.only?.delivery.content == nil)
    #expect(stage.host.droppedOffers == 1)
  }

  @Test func `one that throws gives the original at once`() async {
    struct Mishap: Error {}
    let stage = HostStage(.init(receive: { _, _ in throw Mishap() }))
    stage.run()
    await stage.waitForDelivery()
    #expect(stage.only?.delivery.reason == .internal)
    #expect(stage.elapsed == .zero)
  }

  @Test func `one that throws after its answer has answered`() async {
    struct Mishap: Error {}
    let stage = HostStage(
      .init(receive: { _, answer in
        answer.offer(Self.better)
        throw Mishap()
      }))
    stage.run()
    await stage.waitForDelivery()
    #expect(stage.only?.delivery.content?.title == "Better")
  }

  @Test func `one that blocks its thread in every call is passed over`() async {
    let held = HeldThread()
    let stage = HostStage(.init(receive: { _, _ in held.wait() }, expire: { _ in held.wait() }, cancel: { held.wait() }))
    stage.run()
    stage.clock.advance(by: Self.notice)
    stage.clock.advance(by: .milliseconds(500))
    #expect(stage.only?.delivery.reason == .deadline)
    #expect(stage.elapsed == Self.lastMoment)
    for _ in 0..<3 { held.signal() }
  }

  @Test func `content without alert text is ignored and the original delivered`() async {
    let done = Event()
    let stage = HostStage(
      .init(receive: { _, answer in
        #expect(!answer.offer(.content(NotificationContent(badge: 1))), "the delivery differs from the offer")
        #expect(answer.isDecided)
        done.happen()
      }))
    stage.run()
    await done.wait()
    #expect(stage.only?.delivery.content == nil)
    #expect(stage.only?.delivery.reason == .payloadAlert)
    #expect(stage.host.droppedOffers == 0)
  }

  @Test func `one that returns at once has the whole grace for its line to be written`() {
    let stage = HostStage { PromptExtension(.init()) }
    stage.run()
    stage.clock.advance(by: Self.notice)
    #expect(stage.only?.delivery.reason == .deadline)
    #expect(stage.elapsed == Self.notice)
  }

  @Test func `one that returns at once has its last word when it is told`() {
    let stage = HostStage { PromptExtension(.init(expire: { $0?.offer(Self.better) })) }
    stage.run()
    stage.clock.advance(by: HostStage.budget)
    #expect(stage.only?.delivery.content?.title == "Better")
    #expect(stage.elapsed == Self.notice)
    #expect(stage.host.droppedOffers == 0)
  }

  @Test func `a request that comes after its deadline is decided at once`() {
    let stage = HostStage { PromptExtension(.init(receive: { _, _ in Issue.record("nothing must start") })) }
    stage.clock.advance(by: HostStage.budget)
    stage.run()
    #expect(stage.only?.delivery.reason == .deadline)
    #expect(stage.clock.appointments == 0)
  }

  @Test func `cancelling all decides what is under way and what comes later`() async {
    let cancelled = Event()
    let stage = HostStage(.init(cancel: { cancelled.happen() }))
    stage.run()
    stage.host.cancelAll()
    await cancelled.wait()
    #expect(stage.only?.delivery.reason == .cancelled)
    #expect(stage.clock.appointments == 0)
    stage.run()
    #expect(stage.delivered.map(\.delivery.reason) == [.cancelled, .cancelled])
  }
}
